/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "prism/abi/plugin.h"
#include "prism/abi/tensor_source.h"

const prism_plugin_t* prism_plugin_v1(void);

static int failures = 0;

static void expect(int holds, const char* what) {
  if (!holds) {
    printf("FAILED: %s\n", what);
    ++failures;
  }
}

/* What the plugin reported last. */
static char message[256];

static void keep_message(void* ctx, prism_status_t code, prism_str_t text) {
  (void)ctx;
  (void)code;
  snprintf(message, sizeof message, "%.*s", (int)text.len, text.ptr);
}

static const prism_error_sink_t kErrors = {sizeof kErrors, 0, NULL, keep_message};

int main(void) {
  const prism_str_t id = {PRISM_TENSOR_SOURCE_1, sizeof(PRISM_TENSOR_SOURCE_1) - 1};
  const prism_tensor_source_t* source = prism_plugin_v1()->get_interface(id);

  prism_option_value_t values[2] = {{.type = PRISM_OPTION_FLOAT, .set = 1},
                                    {.type = PRISM_OPTION_FLOAT, .set = 1}};
  values[0].u.real = -1.0; /* start */
  values[1].u.real = 0.5;  /* step */
  prism_tensor_source_session_t* session = NULL;
  if (source->open(values, 2, &session, &kErrors) != PRISM_STATUS_OK) {
    printf("FAILED: open() with the two options of this test: %s\n", message);
    return 1; /* nothing can be asked without a session */
  }

  const prism_tensor_request_t request = {.struct_size = sizeof request, .peer = -1};
  const int64_t shape[2] = {2, 2};
  float data[4] = {0};
  const float ramp[4] = {-1.0F, -0.5F, 0.0F, 0.5F};
  prism_tensor_t tensor = {.struct_size = sizeof tensor,
                           .data = data,
                           .device_type = PRISM_DEVICE_CPU,
                           .dtype = PRISM_DTYPE_F32,
                           .ndim = 2,
                           .shape = shape};
  expect(source->fill(session, &request, &tensor, NULL) == PRISM_STATUS_OK, "fill");
  expect(memcmp(data, ramp, sizeof data) == 0, "start and step");

  tensor.dtype = PRISM_DTYPE_I64;
  expect(source->fill(session, &request, &tensor, NULL) == PRISM_STATUS_INVALID_ARGUMENT,
         "other types are refused");
  source->close(session);
  return failures == 0 ? 0 : 1;
}
