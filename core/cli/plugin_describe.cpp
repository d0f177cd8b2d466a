// SPDX-License-Identifier: Apache-2.0
#include "core/cli/plugin_describe.hpp"

#include <algorithm>
#include <optional>

#include "core/config/option_text.hpp"
#include "core/config/value.hpp"

namespace prism::cli {
namespace {

using config::Option;
using config::OptionType;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

/// Some value that the option takes, where it has no default.
std::string sample_value(const Option& option) {
  if (const std::optional<std::string> value = config::value_within(option)) {
    return *value;
  }
  switch (option.type) {
    case OptionType::Float:
      return config::number_text(option, 1.0);
    case OptionType::Int:
    case OptionType::Duration:
    case OptionType::Bytes:
      return config::number_text(option, int64_t{1});
    default:
      return option.type == OptionType::Path ? "\"file\"" : "\"text\"";
  }
}

std::string value_text(const Option& option) {
  return option.default_text.empty() ? sample_value(option) : std::string(option.default_text);
}

/// How an experiment file uses the plugin.
std::string example(const plugin::Candidate& candidate, const DescribedInterface& interface) {
  const std::string kind = kind_of(interface.id);
  const std::string id = config::quote(candidate.id);
  if (kind == "tensor_source") {
    std::string source = "id = " + id;
    for (const Option& option : interface.rows.options) {
      if (option.required || !option.default_text.empty()) {
        source += ", " + config::write_key(option.name) + " = " + value_text(option);
      }
    }
    return "[[collect.rule]]\nmatch = { op = \"all_reduce\" }\nsource = { " + source + " }\n";
  }
  std::string text = "[plugins]\n" + kind + " = " + id + "\n";
  if (!interface.rows.options.empty()) {
    text += "\n[plugins.options." + config::write_key(candidate.id) + "]\n";
  }
  for (const Option& option : interface.rows.options) {
    const bool needs_none = !option.required && option.default_text.empty();
    text += (needs_none ? "# " : "") + config::write_key(option.name) + " = " + value_text(option) +
            "\n";
  }
  return text;
}

/// Interfaces of others than Prism are not named in experiment files.
bool has_example(const DescribedInterface& interface) {
  return interface.id.starts_with("prism.");
}

std::string indented(const std::string& text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c != '\n') {
      result += "  ";
    }
    result += c;
    at_start = c == '\n';
  }
  return result;
}

std::string option_text(const Option& option, size_t width) {
  std::string text = "  " + std::string(option.name);
  text.append(width - option.name.size() + 2, ' ');
  text += config::type_text(option.type);
  if (option.required) {
    text += ", required";
  } else if (!option.default_text.empty()) {
    text += ", default " + std::string(option.default_text);
  }
  if (const std::string range = config::range_text(option); !range.empty()) {
    text += ", " + range;
  }
  return text + "\n" + std::string(width + 4, ' ') + std::string(option.doc) + "\n";
}

void write_option_json(JsonWriter& json, const Option& option) {
  json.begin_object();
  json.member("name", option.name);
  json.member("type", config::type_text(option.type));
  json.member("required", option.required);
  json.member("default", option.default_text);
  json.member("range", config::range_text(option));
  json.key("choices").begin_array();
  for (const std::string_view choice : option.choices) {
    json.value(choice);
  }
  json.end_array();
  json.member("doc", option.doc);
  json.end_object();
}

}  // namespace

std::string kind_of(const std::string& interface) {
  const std::string name = interface.substr(0, interface.find('/'));
  const std::string_view ours = "prism.";
  return name.starts_with(ours) ? name.substr(ours.size()) : name;
}

std::string state_name(plugin::State state) {
  switch (state) {
    case plugin::State::Ok:
      return "ok";
    case plugin::State::Shadowed:
      return "shadowed";
    case plugin::State::Incompatible:
      return "incompatible";
    case plugin::State::Broken:
      return "broken";
  }
  return "?";
}

std::string state_text(const plugin::Candidate& candidate) {
  const std::string name = state_name(candidate.state);
  return candidate.reason.empty() ? name : name + ": " + candidate.reason;
}

std::string abi_text(const plugin::Manifest& manifest) {
  return std::to_string(manifest.abi_major) + "." + std::to_string(manifest.min_host_minor);
}

void write_identity(JsonWriter& json, const plugin::Candidate& candidate) {
  const plugin::Manifest& manifest = candidate.manifest;
  json.member("id", candidate.id);
  json.member("version", manifest.version);
  json.member("summary", manifest.summary);
  json.member("abi", abi_text(manifest));
  json.member("status", state_name(candidate.state));
  json.member("reason", candidate.reason);
  json.member("path", candidate.folder);
}

std::string describe_text(const plugin::Candidate& candidate,
                          const std::vector<DescribedInterface>& interfaces) {
  const plugin::Manifest& manifest = candidate.manifest;
  std::string text = candidate.id + " " + manifest.version + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    constexpr size_t kWidth = 12;
    if (!value.empty()) {
      name.resize(kWidth, ' ');
      text += "  " + name + value + "\n";
    }
  };
  line("summary", manifest.summary);
  line("status", state_text(candidate));
  line("interfaces", joined(manifest.interfaces));
  line("plugin ABI", manifest.abi_major == 0 ? "" : abi_text(manifest) + " or later");
  line("license", manifest.license);
  line("folder", candidate.folder);
  line("library", manifest.library);
  for (const plugin::Companion& companion : manifest.companions) {
    line("companion", companion.file);
  }
  for (const auto& [what, version] : manifest.requirements) {
    line("requires", what + " " + version);
  }
  line("built with", manifest.compiler);

  for (const DescribedInterface& interface : interfaces) {
    const std::vector<Option>& options = interface.rows.options;
    text += "\noptions of " + interface.id + (options.empty() ? ": none\n" : ":\n");
    size_t width = 0;
    for (const Option& option : options) {
      width = std::max(width, option.name.size());
    }
    for (const Option& option : options) {
      text += option_text(option, width);
    }
    if (has_example(interface)) {
      text += "\nin an experiment file:\n" + indented(example(candidate, interface));
    }
  }
  return text;
}

std::string describe_json(const plugin::Candidate& candidate,
                          const std::vector<DescribedInterface>& interfaces) {
  const plugin::Manifest& manifest = candidate.manifest;
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_identity(json, candidate);
  json.member("license", manifest.license);
  json.member("library", manifest.library);
  json.member("compiler", manifest.compiler);
  json.key("companions").begin_array();
  for (const plugin::Companion& companion : manifest.companions) {
    json.value(companion.file);
  }
  json.end_array();
  json.key("requires").begin_object();
  for (const auto& [what, version] : manifest.requirements) {
    json.member(what, version);
  }
  json.end_object();
  json.key("interfaces").begin_array();
  for (const std::string& id : manifest.interfaces) {
    json.value(id);
  }
  json.end_array();
  json.key("options").begin_object();
  for (const DescribedInterface& interface : interfaces) {
    json.key(interface.id).begin_array();
    for (const Option& option : interface.rows.options) {
      write_option_json(json, option);
    }
    json.end_array();
  }
  json.end_object();
  json.key("examples").begin_array();
  for (const DescribedInterface& interface : interfaces) {
    if (has_example(interface)) {
      json.value(example(candidate, interface));
    }
  }
  json.end_array();
  json.end_object();
  return text + "\n";
}

}  // namespace prism::cli
