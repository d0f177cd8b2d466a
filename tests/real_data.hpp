// SPDX-License-Identifier: Apache-2.0
/// Data of real jobs, which are not part of the repository: shared/data beside the checkout.
#pragma once

#include <filesystem>
#include <string>

namespace prism::test {

/// A file or folder of it; empty where it is not there. A test that needs it is then skipped with
/// kNoRealData.
std::filesystem::path real_data(const std::string& name);

inline constexpr const char* kNoRealData = "the real data is not here: ../shared/data";

}  // namespace prism::test
