#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy 14 over the .cpp files of core and sdk and the headers that they include. Needs a build
# of the release preset (compile_commands.json).
#
#   scripts/tidy.sh [FOLDER OR FILE...]      default: core sdk
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

build=${PRISM_BUILD:-build/release}
[[ -f $build/compile_commands.json ]] || die 4 "run scripts/build.sh first"
(($#)) || set -- core sdk

# Flags that only g++ knows would be errors.
find "$@" -name '*.cpp' -not -path '*/templates/*' -print0 |
  xargs -0 --no-run-if-empty -n 1 -P "$JOBS" \
    clang-tidy-14 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option
