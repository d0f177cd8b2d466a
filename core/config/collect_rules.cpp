// SPDX-License-Identifier: Apache-2.0
#include "core/config/collect_rules.hpp"

#include <array>
#include <string_view>

#include "core/config/classes.hpp"
#include "core/config/option_table.hpp"
#include "core/config/plugin_id.hpp"
#include "core/config/schema.hpp"
#include "core/config/tensor_names.hpp"

namespace prism::config {
namespace {

constexpr std::string_view kMatch = "collect.rule.match";
constexpr const char* kSourceHint = R"(e.g. source = { id = "constant", value = 1 })";

class RuleReader {
 public:
  RuleReader(uint32_t world_size, const std::string& folder, Diagnostics& diagnostics)
      : world_size_(world_size), folder_(folder), diagnostics_(diagnostics) {}

  CollectRule read(const Value& written) {
    static constexpr std::array<std::string_view, 2> kParts = {"match", "source"};
    CollectRule rule;
    rule.line = written.span.begin.line;
    validate_options({"collect.rule", &written, folder_, kParts, experiment_schema()}, {},
                     diagnostics_);
    if (const Value* match = written.table()->find("match"); match == nullptr) {
      // Every tensor.
    } else if (match->table() == nullptr) {
      error(ErrorCode::Type, *match, "'match' in [collect.rule] must be a table",
            R"(e.g. match = { op = "recv", dtype = "int64" })");
    } else {
      read_match(*match, rule);
    }
    read_source(written, rule);
    return rule;
  }

 private:
  void error(ErrorCode code, const Value& at, std::string message, std::string hint = {}) {
    diagnostics_.add({code, at.span, std::move(message), std::move(hint), {}, at.origin});
  }

  void read_match(const Value& match, CollectRule& rule) {
    const auto rows = schema_rows(kMatch);
    const auto values = validate_options(
        {std::string(kMatch), &match, folder_, {}, experiment_schema()}, rows, diagnostics_);
    const auto value = [&](std::string_view name) -> const OptionValue& {
      size_t i = 0;
      while (rows[i].name != name) {
        ++i;
      }
      return values[i];
    };
    rule.kind = number_of(kReceivingOperations, value("op").text());
    rule.dtype = number_of(kElementTypes, value("dtype").text());
    if (value("group").set()) {
      rule.group = value("group").text();
    }
    if (value("shape").set()) {
      rule.shape = value("shape").integers();
    }
    if (value("call").set()) {
      rule.call = static_cast<uint64_t>(value("call").integer());
    }
    if (value("ranks").set()) {
      read_ranks(value("ranks"), rule);
    }
  }

  void read_ranks(const OptionValue& value, CollectRule& rule) {
    const Value& written = *value.written;
    rule.ranks.emplace();
    if (written.list() != nullptr) {
      for (size_t i = 0; i < written.list()->size(); ++i) {
        const int64_t rank = value.integers()[i];
        if (rank >= int64_t{world_size_}) {
          error(ErrorCode::Rank, (*written.list())[i],
                "'ranks' in [collect.rule.match]: rank " + std::to_string(rank) +
                    " does not exist: world_size is " + std::to_string(world_size_));
        }
        rule.ranks->push_back(static_cast<Rank>(rank));
      }
      return;
    }
    std::vector<ClassProblem> problems;
    rule.ranks = resolve_ranks(value.text(), world_size_, problems);
    for (ClassProblem& problem : problems) {
      diagnostics_.add({problem.code,
                        diagnostics_.inside(written, problem.place->begin, problem.place->end),
                        "'ranks' in [collect.rule.match]: " + problem.message,
                        std::move(problem.hint),
                        {},
                        written.origin});
    }
  }

  void read_source(const Value& written, CollectRule& rule) {
    const Value* source = written.table()->find("source");
    if (source == nullptr) {
      error(ErrorCode::MissingKey, written, "missing required key 'source' in [collect.rule]",
            kSourceHint);
      return;
    }
    if (source->table() == nullptr) {
      error(ErrorCode::Type, *source, "'source' in [collect.rule] must be a table", kSourceHint);
      return;
    }
    const Value* id = source->table()->find("id");
    if (id == nullptr) {
      error(ErrorCode::MissingKey, *source,
            "missing required key 'id' in [collect.rule.source]: it names a tensor source",
            kSourceHint);
    } else if (id->string() == nullptr) {
      error(ErrorCode::Type, *id, "'id' in [collect.rule.source] must be a string", kSourceHint);
    } else if (!is_plugin_id(*id->string())) {
      error(ErrorCode::Name, *id, bad_plugin_id(*id->string()), kPluginIdHint);
    } else {
      rule.source = *id->string();
    }
    rule.options = source;
  }

  const uint32_t world_size_;
  const std::string& folder_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::vector<CollectRule> read_collect_rules(const Value& rules, uint32_t world_size,
                                            const std::string& folder, Diagnostics& diagnostics) {
  std::vector<CollectRule> read;
  RuleReader reader(world_size, folder, diagnostics);
  const auto refuse = [&](const Value& at) {
    diagnostics.add({ErrorCode::Type,
                     at.span,
                     "'rule' in [collect] must be a list of tables, not a value of kind " +
                         std::string(at.kind()),
                     "write [[collect.rule]]",
                     {},
                     at.origin});
  };
  if (rules.list() == nullptr) {
    refuse(rules);
    return read;
  }
  for (const Value& rule : *rules.list()) {
    if (rule.table() == nullptr) {
      refuse(rule);
    } else {
      read.push_back(reader.read(rule));
    }
  }
  return read;
}

}  // namespace prism::config
