#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All checks that a change has to pass, the fast ones first. A failed stage does not keep the others
# from running, so that one run tells everything; those that need the build are left out without it.
# Each stage's output is in build/ci/STAGE.log and is printed when the stage fails. ctest's summary
# comes last.
#
#   scripts/ci.sh            set-up and all stages
#   scripts/ci.sh STAGE      one of them: format, layers, abi, docs, build, binaries, tests,
#                            quickstart, install, clang, tidy, sanitizers, threads, fuzz
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

LOGS=build/ci
DEFAULT_TESTS=(-LE 'gpu|slow|install')

format() {
  scripts/format.sh --check
  scripts/check_files.py
  # Golden files and the test of suggestions misspell on purpose.
  git ls-files --cached --others --exclude-standard -z -- . ':!tests/golden' ':!tests/fuzz/corpus' ':!*suggest_test.cpp' |
    xargs -0 codespell --ignore-words-list nd,nin,levl
  shellcheck scripts/*.sh .ci/run
}

# The headers of the SDK as a reference: every warning of doxygen is an error.
docs() {
  mkdir -p build
  (cd sdk && doxygen)
}

# Another compiler and another standard library's checks; the fast tests.
clang() {
  cmake --preset debug -B build/clang -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
    -DPRISM_BUILD_BENCH=OFF
  ninja -C build/clang -j "$JOBS" --quiet
  run_tests clang "${DEFAULT_TESTS[@]}" -L unit
}

# What is used from several threads: the loader and the plugins, scheduling, replay, sockets. The
# tests left out need programs that are not built here.
threads() {
  export TSAN_OPTIONS=halt_on_error=1
  local plugins=(balanced zipf zeros normal local)
  scripts/build.sh tsan schedule_test replay_test plugin_test plugin_fixture_test wire_test prism \
    "${plugins[@]/#/plugin_}"
  run_tests tsan -L unit -E '^(compat|reference|sdk|trace_file)\.|^wire_golden'
  run_tests tsan -L conformance -R "^($(IFS='|' && printf '%s' "${plugins[*]}"))\.conformance\$"
}

# Core, and the agent inside torch processes. ASAN_OPTIONS stays unset: the torch runtime gives ranks
# their own, without leak detection, since Python and torch leave much behind.
sanitizers() {
  export UBSAN_OPTIONS=print_stacktrace=1
  scripts/build.sh asan
  run_tests asan "${DEFAULT_TESTS[@]}" -L unit
  run_tests asan "${DEFAULT_TESTS[@]}" -L integration -R 'Agent|Ways'
}

# Runs a stage in a process of its own and notes how it went; returns its exit status.
table=()
failed=0
stage() {
  local name=$1 log=$LOGS/$1.log start=$SECONDS verdict=ok code=0
  say "== $name"
  "scripts/ci.sh" "$name" >"$log" 2>&1 </dev/null || code=$?
  if ((code)); then
    verdict="FAILED"
    failed=1
    tail -n 300 "$log"
  else
    grep '^prism: skipped\|^skipped ' "$log" || true
  fi
  say "== $name: $verdict, $((SECONDS - start)) s"
  table+=("$(printf '%-10s %5d s  %s' "$name" $((SECONDS - start)) "$verdict")")
  return "$code"
}

all() {
  rm -rf "$LOGS"
  mkdir -p "$LOGS"
  scripts/setup.sh
  stage format || true
  stage layers || true
  stage abi || true
  stage docs || true
  if stage build; then
    stage binaries || true
    stage tests || true
    stage quickstart || true
    stage install || true
    stage tidy || true
  fi
  stage clang || true
  stage sanitizers || true
  stage threads || true
  stage fuzz || true

  say
  say "stages:"
  printf '  %s\n' "${table[@]}"
  if [[ -f $LOGS/tests.log ]]; then
    say
    skip_reasons release
    sed -n '/% tests passed/,$p' "$LOGS/tests.log"
  fi
  exit "$failed"
}

case ${1:-all} in
  all) all ;;
  format) format ;;
  layers) scripts/check_layers.py ;;
  abi) scripts/check_abi.py ;;
  docs) docs ;;
  build) scripts/build.sh release ;;
  binaries) scripts/check_binaries.py build/release ;;
  tests) run_tests release "${DEFAULT_TESTS[@]}" ;;
  quickstart) scripts/quickstart.sh ;;
  install) run_tests release -L install ;;
  tidy) scripts/tidy.sh ;;
  clang) clang ;;
  threads) threads ;;
  fuzz) scripts/fuzz.sh 15 ;;
  sanitizers) sanitizers ;;
  *) die 2 "there is no stage '$1'" ;;
esac
