// SPDX-License-Identifier: Apache-2.0
#include "core/config/reference.hpp"

#include "core/config/option_text.hpp"
#include "core/config/schema.hpp"

namespace prism::config {
namespace {

constexpr std::string_view kIntroduction =
    R"(# The experiment file

Written by `prism config reference` from the tables that also check the file; `tests/golden/update.sh` writes it anew.

An experiment is a TOML file. Unknown tables and keys are mistakes, and `prism config check FILE` names all of them with their
places ([errors.md](errors.md)); `prism config show FILE` prints what is in force, with the origin of each value. A path is relative to
the folder of the file. Durations, sizes and bandwidths are texts with a unit: `"25 us"`, `"16 MiB"`, `"12.5 GB/s"`. In the
names of tables, `NAME` stands for a name of your choice and `N` for a number of ranks.
)";

constexpr std::string_view kPluginOptions = R"(
## [plugins.options.ID]

Options of the plugin with that id. `prism plugin show ID` prints them, with a stanza to start from; `prism plugin list` names the
plugins.
)";

/// Text in a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '|' ? "\\|" : std::string(1, c);
  }
  return escaped;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + cell(text) + "`";
}

std::string row(const Option& option) {
  const std::string fallback = option.required ? "required" : code(option.default_text);
  return "| " + code(option.name) + " | " + type_text(option.type) + " | " + fallback + " | " +
         cell(range_text(option)) + " | " + cell(option.doc) + " |\n";
}

}  // namespace

std::string reference_page() {
  std::string page(kIntroduction);
  for (const TableSchema& table : experiment_schema()) {
    page += "\n## [" + std::string(table.name) + "]\n\n" + std::string(table.doc) +
            "\n\n| key | type | default | values | meaning |\n|---|---|---|---|---|\n";
    for (const Option& option : table.options) {
      page += row(option);
    }
    if (table.name == "plugins") {
      page += kPluginOptions;
    }
  }
  return page;
}

}  // namespace prism::config
