#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset into build/PRESET; the program is build/PRESET/bin/prism.
#
#   scripts/build.sh [PRESET] [TARGET...]      PRESET: release (default), debug, asan, tsan
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-release}
shift || true
build=$ROOT/build/$preset
mkdir -p "$build"

cd "$ROOT"
if ! cmake --preset "$preset" >"$build/configure.log" 2>&1; then
  tail -n 40 "$build/configure.log" >&2
  die 1 "configuring failed; all of it is in build/$preset/configure.log"
fi
grep '^prism: skipped' "$build/configure.log" || true

quiet=(--quiet)
[[ -t 1 ]] && quiet=()
say "build: $preset"
ninja -C "$build" -j "$JOBS" "${quiet[@]}" "$@"
