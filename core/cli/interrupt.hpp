// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C and SIGTERM as a descriptor that becomes readable.
#pragma once

namespace prism::cli {

/// From the call on the first SIGINT or SIGTERM makes the returned descriptor readable, for good; a
/// second one ends the program at once. One call per program.
int catch_interrupts();
/// Whether one has come.
bool interrupted();

}  // namespace prism::cli
