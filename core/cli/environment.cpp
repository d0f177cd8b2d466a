// SPDX-License-Identifier: Apache-2.0
#include "core/cli/environment.hpp"

#include <map>
#include <sched.h>
#include <string_view>
#include <unistd.h>

namespace prism::cli {

std::vector<uint32_t> usable_cores() {
  std::vector<uint32_t> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores.empty() ? std::vector<uint32_t>{0} : cores;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
    }
  }
  for (const auto& [name, value] : added) {
    variables[name] = value;
  }
  std::vector<std::string> list;
  list.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    list.push_back(name + "=" + value);
  }
  return list;
}

}  // namespace prism::cli
