#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats all C and C++ files in place; with --check only names the lines that would change.
#
#   scripts/format.sh [--check]
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run --Werror)
cd "$ROOT"
git ls-files --cached --others --exclude-standard -z -- '*.h' '*.hpp' '*.c' '*.cpp' |
  xargs -0 --no-run-if-empty -n 16 -P "$JOBS" clang-format-14 "${mode[@]}"
