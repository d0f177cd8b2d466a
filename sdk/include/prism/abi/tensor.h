/* SPDX-License-Identifier: Apache-2.0 */
/** A view of a tensor's memory, after DLPack's DLTensor. */
#pragma once

#include "prism/abi/base.h"
#include "prism/abi/comm.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_DEVICE_CPU 1 /**< numbers of DLPack */
#define PRISM_DEVICE_CUDA 2

/** Ownership: host; borrowed for the call, memory included. */
typedef struct prism_tensor {
  uint32_t struct_size;
  uint32_t reserved;
  void* data;          /**< of the first element; may be NULL when there are no elements */
  int32_t device_type; /**< PRISM_DEVICE_ */
  int32_t device_id;
  int32_t dtype; /**< PRISM_DTYPE_ */
  uint32_t ndim;
  const int64_t* shape;   /**< ndim sizes, each >= 0 */
  const int64_t* strides; /**< ndim, in elements; NULL: row-major without gaps */
  void* stream;           /**< cudaStream_t to work on; NULL on the CPU */
} prism_tensor_t;

PRISM_EXTERN_C_END
