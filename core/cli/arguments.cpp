// SPDX-License-Identifier: Apache-2.0
#include "core/cli/arguments.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>

namespace prism::cli {
namespace {

namespace po = boost::program_options;

Status usage_error(const Usage& usage, const std::string& message) {
  return config_error(message + "\n  usage: " + usage.command + " " + usage.synopsis +
                      "\n  more: " + usage.command + " --help");
}

po::options_description flags_of(const Usage& usage) {
  po::options_description flags;
  flags.add_options()("help,h", "show this");
  for (const Flag& flag : usage.flags) {
    if (flag.value.empty()) {
      flags.add_options()(flag.name.c_str(), flag.doc.c_str());
    } else if (flag.repeatable) {
      flags.add_options()(
          flag.name.c_str(),
          po::value<std::vector<std::string>>()->composing()->value_name(flag.value),
          flag.doc.c_str());
    } else {
      flags.add_options()(flag.name.c_str(), po::value<std::string>()->value_name(flag.value),
                          flag.doc.c_str());
    }
  }
  return flags;
}

bool is_repeatable(const Usage& usage, const std::string& name) {
  return std::any_of(usage.flags.begin(), usage.flags.end(),
                     [&](const Flag& flag) { return flag.repeatable && flag.name == name; });
}

}  // namespace

Result<Arguments> parse_arguments(const Usage& usage, const std::vector<std::string>& words) {
  po::options_description all = flags_of(usage);
  all.add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  namespace style = po::command_line_style;
  po::variables_map map;
  Arguments arguments;
  try {
    const po::parsed_options parsed = po::command_line_parser(words)
                                          .options(all)
                                          .positional(positional)
                                          .style(style::unix_style & ~style::allow_guessing)
                                          .run();
    po::store(parsed, map);
    for (const po::option& option : parsed.options) {
      if (is_repeatable(usage, option.string_key) && !option.value.empty()) {
        arguments.in_order.emplace_back(option.string_key, option.value.front());
      }
    }
  } catch (const po::error& error) {
    return usage_error(usage, error.what());
  }
  arguments.help = map.count("help") != 0;
  for (const Flag& flag : usage.flags) {
    const auto it = map.find(flag.name);
    if (it != map.end() && flag.repeatable) {
      arguments.lists[flag.name] = it->second.as<std::vector<std::string>>();
    } else if (it != map.end()) {
      arguments.values[flag.name] = flag.value.empty() ? "" : it->second.as<std::string>();
    }
  }
  if (arguments.help) {
    return arguments;
  }
  std::vector<std::string> given;
  if (map.count("words") != 0) {
    given = map["words"].as<std::vector<std::string>>();
  }
  for (size_t i = 0; i < usage.positional.size(); ++i) {
    if (i >= given.size()) {
      return usage_error(usage, usage.positional[i] + " is missing");
    }
    arguments.values[usage.positional[i]] = given[i];
  }
  if (!usage.rest.empty()) {
    if (given.size() == usage.positional.size()) {
      return usage_error(usage, usage.rest + " is missing");
    }
    arguments.lists[usage.rest].assign(
        given.begin() + static_cast<std::ptrdiff_t>(usage.positional.size()), given.end());
  } else if (given.size() > usage.positional.size()) {
    return usage_error(usage, "unexpected '" + given[usage.positional.size()] + "'");
  }
  return arguments;
}

std::string help_text(const Usage& usage) {
  std::string text =
      "usage: " + usage.command + " " + usage.synopsis + "\n\n" + usage.summary + "\n\noptions:\n";
  size_t width = 0;
  const auto left = [](const Flag& flag) {
    return "  --" + flag.name + (flag.value.empty() ? "" : " " + flag.value);
  };
  const Flag help{"help", "", "show this"};
  std::vector<Flag> flags = usage.flags;
  flags.push_back(help);
  for (const Flag& flag : flags) {
    width = std::max(width, left(flag).size());
  }
  for (const Flag& flag : flags) {
    const std::string name = left(flag);
    text += name + std::string(width - name.size() + 2, ' ') + flag.doc + "\n";
  }
  return usage.more.empty() ? text : text + "\n" + usage.more + "\n";
}

Result<int64_t> integer_value(const Arguments& arguments, const std::string& flag, int64_t min,
                              int64_t max) {
  const std::string& text = arguments.at(flag);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return config_error("--" + flag + " takes a whole number from " + std::to_string(min) + " to " +
                        std::to_string(max) + ", not '" + text + "'");
  }
  return value;
}

}  // namespace prism::cli
