/* SPDX-License-Identifier: Apache-2.0 */
/* What router.c, tensor_source.c, format.c and launcher.c have in common: a plugin in plain C that
 * is right in all but the one way that its MUTANT_ macro names. */
#pragma once

#include <string.h>

#include "prism/abi/option.h"
#include "prism/abi/plugin.h"

#define TEXT(s) \
  { (s), sizeof(s) - 1 }

/* The interface of the including file, defined there. */
extern const char* const kInterface;
extern const void* const kInterfaceTable;

extern const prism_host_t* g_host;
#define OPTION_COUNT 3
extern const prism_option_t kRows[OPTION_COUNT];

prism_status_t fail(const prism_error_sink_t* err, prism_status_t code, const char* text);
uint64_t scramble(uint64_t x);
/* The number of the option "spread"; reports and returns -1 for values that are not the table's. */
int64_t checked_spread(const prism_option_value_t* values, uint64_t count,
                       const prism_error_sink_t* err);
/* Says a line in the host's log. */
void say(const char* text);
