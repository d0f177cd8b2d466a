/* SPDX-License-Identifier: Apache-2.0 */
/* A ramp: start, start + step, start + 2 step, ... The contract of a tensor source is in
 * prism/abi/tensor_source.h. */
#include <stdlib.h>
#include <string.h>

#include "prism/abi/plugin.h"
#include "prism/abi/tensor_source.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

struct prism_tensor_source_session {
  double start;
  double step;
};

enum { START, STEP, OPTION_COUNT };

static const prism_option_t kOptions[OPTION_COUNT] = {
    {.name = TEXT("start"),
     .type = PRISM_OPTION_FLOAT,
     .default_text = TEXT("0.0"),
     .doc = TEXT("The first element.")},
    {.name = TEXT("step"),
     .type = PRISM_OPTION_FLOAT,
     .default_text = TEXT("1.0"),
     .doc = TEXT("From one element to the next, in row-major order.")},
};

static prism_status_t fail(const prism_error_sink_t* err, prism_status_t code, const char* text) {
  if (err != NULL && err->report != NULL) {
    const prism_str_t message = {text, strlen(text)};
    err->report(err->ctx, code, message);
  }
  return code;
}

static prism_status_t open_session(const prism_option_value_t* values, uint64_t value_count,
                                   prism_tensor_source_session_t** session,
                                   const prism_error_sink_t* err) {
  if (value_count != OPTION_COUNT || values == NULL) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the values do not fit the table of options");
  }
  for (int i = 0; i < OPTION_COUNT; ++i) {
    if (values[i].set == 0 || values[i].type != PRISM_OPTION_FLOAT) {
      return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "start and step must be real numbers");
    }
  }
  *session = malloc(sizeof **session);
  if (*session == NULL) {
    return fail(err, PRISM_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  }
  (*session)->start = values[START].u.real;
  (*session)->step = values[STEP].u.real;
  return PRISM_STATUS_OK;
}

/* The number of elements of a tensor that this plugin can write; -1 for another one. */
static int64_t element_count(const prism_tensor_t* out) {
  if (out->ndim > 0 && out->shape == NULL) {
    return -1;
  }
  int64_t elements = 1;
  for (uint32_t i = 0; i < out->ndim; ++i) {
    const int64_t extent = out->shape[i];
    if (extent < 0 || (extent > 0 && elements > INT64_MAX / 8 / extent)) {
      return -1;
    }
    elements *= extent;
  }
  int64_t step = 1;
  for (uint32_t i = out->ndim; out->strides != NULL && elements > 0 && i-- > 0;) {
    if (out->shape[i] > 1 && out->strides[i] != step) {
      return -1;
    }
    step *= out->shape[i];
  }
  return out->data == NULL && elements > 0 ? -1 : elements;
}

static prism_status_t fill(prism_tensor_source_session_t* session,
                           const prism_tensor_request_t* request, const prism_tensor_t* out,
                           const prism_error_sink_t* err) {
  if (request == NULL || !PRISM_HAS(request, prism_tensor_request_t, part)) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the host gave no tensor request");
  }
  if (out == NULL || !PRISM_HAS(out, prism_tensor_t, stream) ||
      out->device_type != PRISM_DEVICE_CPU || element_count(out) < 0) {
    return fail(err, PRISM_STATUS_INVALID_ARGUMENT,
                "the ramp needs a tensor on the CPU, without gaps");
  }
  const int64_t elements = element_count(out);
  if (out->dtype == PRISM_DTYPE_F32) {
    float* data = out->data;
    for (int64_t i = 0; i < elements; ++i) {
      data[i] = (float)(session->start + session->step * (double)i);
    }
    return PRISM_STATUS_OK;
  }
  if (out->dtype == PRISM_DTYPE_F64) {
    double* data = out->data;
    for (int64_t i = 0; i < elements; ++i) {
      data[i] = session->start + session->step * (double)i;
    }
    return PRISM_STATUS_OK;
  }
  return fail(err, PRISM_STATUS_INVALID_ARGUMENT, "the ramp has elements of type f32 or f64 only");
}

static void close_session(prism_tensor_source_session_t* session) {
  free(session);
}

static const prism_tensor_source_t kSource = {
    .struct_size = sizeof(prism_tensor_source_t),
    .options = {kOptions, OPTION_COUNT, sizeof(prism_option_t)},
    .open = open_session,
    .fill = fill,
    .close = close_session,
};

static const void* get_interface(prism_str_t id) {
  const prism_str_t source = TEXT(PRISM_TENSOR_SOURCE_1);
  return id.len == source.len && memcmp(id.ptr, source.ptr, source.len) == 0 ? &kSource : NULL;
}

__attribute__((visibility("default"))) const prism_plugin_t* prism_plugin_v1(void);

const prism_plugin_t* prism_plugin_v1(void) {
  static const prism_plugin_t plugin = {
      .struct_size = sizeof(prism_plugin_t),
      .abi_major = PRISM_ABI_MAJOR,
      .abi_minor = PRISM_ABI_MINOR,
      .id = TEXT(PRISM_PLUGIN_ID),
      .version = TEXT(PRISM_PLUGIN_VERSION),
      .get_interface = get_interface,
  };
  return &plugin;
}
