# SPDX-License-Identifier: Apache-2.0
# Raises before init_process_group: nothing was communicated. Expected: traceback and rank, exit code 1.
raise RuntimeError("no data folder")
