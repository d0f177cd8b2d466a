/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options of a plugin: described once in a static table, from which the host validates the
 * experiment file, prints help and writes the reference page.
 */
#pragma once

#include "prism/abi/string.h"

PRISM_EXTERN_C_BEGIN

#define PRISM_OPTION_BOOL 1     /**< u.boolean */
#define PRISM_OPTION_INT 2      /**< u.integer */
#define PRISM_OPTION_FLOAT 3    /**< u.real */
#define PRISM_OPTION_STRING 4   /**< u.text */
#define PRISM_OPTION_DURATION 5 /**< u.integer, nanoseconds; written "25 us" */
#define PRISM_OPTION_BYTES 6    /**< u.integer, bytes; written "16 MiB" */
#define PRISM_OPTION_PATH 7     /**< u.text, absolute; relative ones are relative to the file */

/** One row of an option table. All text static. Bounds are inclusive. */
typedef struct prism_option {
  prism_str_t name;
  int32_t type;     /**< PRISM_OPTION_ */
  uint8_t required; /**< 1: there is no default */
  uint8_t pad[3];
  prism_str_t default_text;   /**< as written in TOML, e.g. "5" or "\"cpu\""; empty: unset */
  int64_t min;                /**< of INT, DURATION and BYTES; INT64_MIN: no bound */
  int64_t max;                /**< INT64_MAX: no bound; min and max both 0: no bounds */
  const prism_str_t* choices; /**< STRING: allowed values, or NULL */
  uint64_t choice_count;
  prism_str_t doc; /**< one sentence */
  double real_min; /**< of FLOAT; real_min and real_max both 0: no bounds */
  double real_max;
} prism_option_t;

/** What a row has at least. */
#define PRISM_OPTION_SIZE_1_0 PRISM_SIZE_THROUGH(prism_option_t, real_max)

/** A validated value, in the order of the table. `set` is 0 where there is no value. */
typedef struct prism_option_value {
  int32_t type;
  uint8_t set;
  uint8_t pad[3];
  union {
    uint8_t boolean;
    int64_t integer;
    double real;
    prism_str_t text;
  } u;
} prism_option_value_t;

/** Ownership: plugin, static; rows are `stride` bytes apart. */
typedef struct prism_option_table {
  const prism_option_t* rows;
  uint64_t count;
  uint64_t stride;
} prism_option_table_t;

PRISM_EXTERN_C_END
