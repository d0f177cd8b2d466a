# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by every script here: strict mode, the repository root, messages.
set -euo pipefail

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
VENV=$ROOT/.venv
JOBS=${PRISM_JOBS:-$(nproc)}
export ROOT VENV JOBS

# ccache finds its entries again in a clone in another folder.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$ROOT} CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*"; }

# die CODE MESSAGE: the program's exit codes hold here too (2 usage, 4 environment).
die() {
  local code=$1
  shift
  printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
  exit "$code"
}

# run_tests PRESET [CTEST OPTIONS...]: ctest of a built preset; finding no test is a failure.
run_tests() {
  local build=$ROOT/build/$1
  shift
  ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 600 -j "$JOBS" "$@"
}

# skip_reasons PRESET: why tests of the last run were skipped; ctest itself does not tell.
skip_reasons() {
  awk '/: Skipped$/ { getline; print "skipped: " $0 }' \
    "$ROOT/build/$1/Testing/Temporary/LastTest.log" | sort | uniq -c
}
