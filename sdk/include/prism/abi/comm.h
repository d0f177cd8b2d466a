/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers for communications, element types and reductions, shared by ABI, wire and graph. */
#pragma once

#include "prism/abi/base.h"

#define PRISM_COMM_ALL_REDUCE 1
#define PRISM_COMM_ALL_GATHER 2
#define PRISM_COMM_REDUCE_SCATTER 3
#define PRISM_COMM_ALL_TO_ALL 4
#define PRISM_COMM_BARRIER 5
#define PRISM_COMM_BROADCAST 6
#define PRISM_COMM_SCATTER 7
#define PRISM_COMM_REDUCE 8
#define PRISM_COMM_GATHER 9
#define PRISM_COMM_SEND 10
#define PRISM_COMM_RECV 11

#define PRISM_REDUCE_NONE 0
#define PRISM_REDUCE_SUM 1
#define PRISM_REDUCE_AVG 2
#define PRISM_REDUCE_MIN 3
#define PRISM_REDUCE_MAX 4
#define PRISM_REDUCE_PRODUCT 5
#define PRISM_REDUCE_BAND 6
#define PRISM_REDUCE_BOR 7
#define PRISM_REDUCE_BXOR 8
#define PRISM_REDUCE_PREMUL_SUM 9

#define PRISM_DTYPE_OTHER 0
#define PRISM_DTYPE_U8 1
#define PRISM_DTYPE_I8 2
#define PRISM_DTYPE_I16 3
#define PRISM_DTYPE_I32 4
#define PRISM_DTYPE_I64 5
#define PRISM_DTYPE_F16 6
#define PRISM_DTYPE_BF16 7
#define PRISM_DTYPE_F32 8
#define PRISM_DTYPE_F64 9
#define PRISM_DTYPE_BOOL 10
#define PRISM_DTYPE_C64 11
#define PRISM_DTYPE_C128 12
#define PRISM_DTYPE_F8_E4M3 13
#define PRISM_DTYPE_F8_E5M2 14
#define PRISM_DTYPE_U16 15
#define PRISM_DTYPE_U32 16
#define PRISM_DTYPE_U64 17
