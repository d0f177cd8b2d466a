#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the expected outputs anew from what the build says now; look at the diff before you commit.
#   tests/golden/update.sh [BUILD_DIR]      default: build/release
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
ninja -C "$build" golden_config_test
PRISM_UPDATE_GOLDEN=1 "$build/tests/golden_config_test" --gtest_brief=1
git --no-pager diff --stat -- tests/golden docs/experiment-file.md
