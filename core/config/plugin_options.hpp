// SPDX-License-Identifier: Apache-2.0
/// Options of a plugin: what the experiment file says under [plugins.options.ID], checked against
/// the table that the plugin brings (prism/abi/option.h).
#pragma once

#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/config/experiment.hpp"
#include "core/config/option_table.hpp"
#include "prism/abi/option.h"

namespace prism::config {

/// A plugin's table as rows of our own, which borrow its static text.
struct OptionRows {
  OptionRows() = default;
  OptionRows(OptionRows&&) = default;  // no copies: the rows point into `choices`
  OptionRows& operator=(OptionRows&&) = default;

  std::vector<Option> options;
  std::vector<int32_t> abi_types;  ///< PRISM_OPTION_ of each row
  std::vector<std::vector<std::string_view>> choices;
};

/// Errors (Domain::Plugin): a table that the plugin should not have.
Result<OptionRows> read_option_rows(std::string_view id, const prism_option_table_t& table);

/// One value per row of the plugin's table, in its order.
class PluginOptions {
 public:
  explicit PluginOptions(std::vector<OptionValue> values, const std::vector<int32_t>& abi_types);
  PluginOptions(PluginOptions&&) = default;
  PluginOptions& operator=(PluginOptions&&) = default;

  const std::vector<OptionValue>& values() const { return values_; }
  /// For the plugin. Ownership: this object; valid while it lives, also after a move.
  const std::vector<prism_option_value_t>& abi() const { return abi_; }

 private:
  std::vector<OptionValue> values_;
  std::vector<prism_option_value_t> abi_;
};

/// Errors: a table that the plugin should not have (Domain::Plugin); a mistake of the user, which
/// is added to `diagnostics` too (Domain::Config). Make `diagnostics` from
/// experiment.document->source.
Result<PluginOptions> validate_plugin_options(const Experiment& experiment, std::string_view id,
                                              const prism_option_table_t& table,
                                              Diagnostics& diagnostics);

/// The same for the `source` of a [[collect.rule]]: its keys but "id" are options of the plugin.
Result<PluginOptions> validate_source_options(const Experiment& experiment, const CollectRule& rule,
                                              const prism_option_table_t& table,
                                              Diagnostics& diagnostics);

/// The ids under [plugins.options], so that one that no plugin reads can be reported.
std::vector<std::string_view> plugin_option_ids(const Experiment& experiment);

}  // namespace prism::config
