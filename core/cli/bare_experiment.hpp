// SPDX-License-Identifier: Apache-2.0
/// Options of one plugin where there is no experiment file.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.hpp"
#include "core/config/experiment.hpp"

namespace prism::cli {

/// An experiment that says nothing but [plugins.options.ID].
config::Experiment bare_experiment(const std::string& id, config::Table options);

/// Words KEY=VALUE of the command line; VALUE as TOML, or else a text without its quotes.
/// Errors (Domain::Config): a word without '=', a key twice.
Result<config::Table> option_words(const std::vector<std::string>& words);

}  // namespace prism::cli
