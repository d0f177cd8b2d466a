/* SPDX-License-Identifier: Apache-2.0 */
/* A library beside a mutant. */
int surplus_function(void);
int surplus_function(void) {
  return 1;
}
