#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libFuzzer targets of tests/fuzz with clang and lets each look for inputs that crash, hang
# or use too much memory. What it finds is left in build/fuzz/findings/; inputs that reach new code
# are kept beside the seeds in build/fuzz/corpus/.
#
#   scripts/fuzz.sh [SECONDS [TARGET...]]     default: 15 seconds for each of all
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

seconds=${1:-15}
shift || true
build=build/fuzz
cmake --preset debug -B "$build" -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPRISM_BUILD_FUZZERS=ON -DPRISM_BUILD_TESTS=OFF \
  -DPRISM_BUILD_BENCH=OFF >"$build.configure.log" 2>&1 || {
  tail -n 40 "$build.configure.log" >&2
  die 1 "configuring failed"
}
(($#)) || set -- decoder_fuzz experiment_fuzz manifest_fuzz elf_fuzz trace_file_fuzz kineto_fuzz chakra_fuzz
ninja -C "$build" -j "$JOBS" --quiet "$@"

# Sanitizer and fuzzer bound what an input may cost: 10 s (the machine may be busy) and 1 GiB.
for target in "$@"; do
  corpus=$build/corpus/$target
  case $target in
    decoder_fuzz) seeds=tests/golden/wire ;;
    experiment_fuzz) seeds=tests/golden/config ;;
    kineto_fuzz) seeds=tests/plugins/kineto/inputs ;;
    *) seeds=tests/fuzz/corpus/${target%_fuzz} ;;
  esac
  mkdir -p "$corpus" "$build/findings"
  say "fuzz: $target, $seconds s"
  "$build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 \
    -artifact_prefix="$build/findings/$target-" -print_final_stats=1 \
    "$corpus" "$seeds" 2>"$build/$target.log" || {
    tail -n 60 "$build/$target.log" >&2
    die 1 "$target found an input; it is in $build/findings/"
  }
  grep -E 'number_of_executed_units|peak_rss' "$build/$target.log"
done
