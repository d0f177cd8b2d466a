#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the tests that need no GPU, no long time and no installation.
#
#   scripts/test.sh          set-up, build, ctest
#   scripts/test.sh --ci     everything that a change has to pass: scripts/ci.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in
  "") ;;
  --ci) exec "$ROOT/scripts/ci.sh" ;;
  *) die 2 "unknown option '$1' (there is --ci)" ;;
esac

"$ROOT/scripts/setup.sh"
"$ROOT/scripts/build.sh"
code=0
run_tests release -LE 'gpu|slow|install' || code=$?
skip_reasons release
exit "$code"
