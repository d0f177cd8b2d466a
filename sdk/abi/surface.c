/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is frozen, in one library, for abidw: the tables that cross between host and
 * plugin, and through them every type that they are made of. Drafts are not in it. */
#include "prism/abi/plugin.h"
#include "prism/abi/router.h"
#include "prism/abi/tensor_source.h"

const prism_plugin_t* prism_plugin_v1(void);
prism_router_t prism_surface_router;
prism_tensor_source_t prism_surface_tensor_source;
prism_option_value_t prism_surface_option_value;
prism_text_sink_t prism_surface_text_sink;
static prism_plugin_t entry;

const prism_plugin_t* prism_plugin_v1(void) {
  return &entry;
}
