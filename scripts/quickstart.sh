#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a first prediction: sets up, builds, runs an example.
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"

EXAMPLE=examples/pipeline
RUN=(build/release/bin/prism run "$EXAMPLE/experiment.toml" --verify 2)

scripts/setup.sh
scripts/build.sh

say "quickstart: ${RUN[*]}"
# The ranks are started with the first python3 in PATH; it has to be the one that has torch.
PATH="$VENV/bin:$PATH" "${RUN[@]}"

cat <<END

The results are in $EXAMPLE/runs/: metrics.json for programs, timeline.json for a trace viewer
(Perfetto, chrome://tracing), ranks/ with what each rank printed. Go on with
  export PATH="\$PWD/build/release/bin:\$PWD/.venv/bin:\$PATH"
  prism run examples/fsdp2/experiment.toml    another job; edit its experiment.toml and run it again
  prism doctor                                what this machine can do
  scripts/test.sh                             the tests
END
