#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a newcomer does, before a release: clones the last commit into a temporary folder and runs one
# of the two commands there, from nothing. The clone is removed when all went well.
#
#   scripts/fresh_clone_test.sh [quickstart|test|ci]     default: quickstart, then test
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

clone=$(mktemp -d "${TMPDIR:-/tmp}/prism-fresh.XXXXXX")
git clone --quiet "file://$ROOT" "$clone/prism"
say "fresh clone: $(git -C "$clone/prism" log -1 --format='%h %s') in $clone/prism"

# Nothing of this shell may help, and nobody answers questions.
fresh() {
  say "fresh clone: $*"
  (cd "$clone/prism" && env -u PRISM_JOBS -u CCACHE_BASEDIR -u VIRTUAL_ENV -u PYTHONPATH "$@" </dev/null) ||
    die 1 "'$*' failed; the clone is left in $clone/prism"
  [[ -x $clone/prism/build/release/bin/prism ]] || die 1 "there is no build/release/bin/prism after '$*'"
}

case ${1:-both} in
  quickstart) fresh scripts/quickstart.sh ;;
  test) fresh scripts/test.sh ;;
  ci) fresh env CI=true bash .ci/run ;;
  both)
    fresh scripts/quickstart.sh
    fresh scripts/test.sh
    ;;
  *) die 2 "there is no command '$1'" ;;
esac

changed=$(git -C "$clone/prism" status --short)
[[ -z $changed ]] || die 1 "files of the repository were changed or left behind:"$'\n'"$changed"
rm -rf "$clone"
say "fresh clone: all went well"
