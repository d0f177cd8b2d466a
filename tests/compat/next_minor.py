# SPDX-License-Identifier: Apache-2.0
"""next_minor.py SOURCE DESTINATION: a copy of the SDK's headers, and of core's host table, as the next
minor version could look: one field more in the host table, in a request and in the router's table."""

import re
import shutil
import sys
from pathlib import Path


def edit(file, *changes):
    text = file.read_text()
    for old, new in changes:
        if text.count(old) != 1:
            raise SystemExit(f"{file} does not have '{old}' once")
        text = text.replace(old, new)
    file.write_text(text)


def main():
    source, destination = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(destination, ignore_errors=True)
    shutil.copytree(source / "sdk/include", destination / "include")
    abi = destination / "include/prism/abi"
    version = abi / "version.h"
    version.write_text(re.sub(r"(PRISM_ABI_MINOR) (\d+)", lambda m: f"{m[1]} {int(m[2]) + 1}", version.read_text()))
    edit(abi / "host.h", ("} prism_host_t;", "  uint64_t (*answer)(void* ctx) PRISM_NOEXCEPT;\n} prism_host_t;"))
    edit(abi / "router.h",
         ("} prism_routing_request_t;", "  uint32_t phase;\n  uint32_t phase_pad;\n} prism_routing_request_t;"),
         ("} prism_router_t;", "  uint64_t (*later)(prism_router_session_t* session) PRISM_NOEXCEPT;\n} prism_router_t;"))
    host_table = destination / "host_table.cpp"
    shutil.copy(source / "core/plugin/host_table.cpp", host_table)
    edit(host_table,
         ("             &log} {}", "             &log,\n             &answer} {}"),
         ("}  // namespace\n\nHostTable",
          "uint64_t answer(void* /*ctx*/) noexcept {\n  return 42;\n}\n\n}  // namespace\n\nHostTable"))


if __name__ == "__main__":
    main()
