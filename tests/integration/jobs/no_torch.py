# SPDX-License-Identifier: Apache-2.0
# Does not even import torch, so that nothing is intercepted. Expected: a message that says so.
print(sum(range(1000)))
