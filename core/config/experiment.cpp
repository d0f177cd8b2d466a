// SPDX-License-Identifier: Apache-2.0
#include "core/config/experiment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "core/base/text.hpp"
#include "core/config/placeholders.hpp"
#include "core/config/plugin_id.hpp"
#include "core/config/schema.hpp"
#include "core/config/suggest.hpp"

namespace prism::config {
namespace {

constexpr std::array<std::string_view, 9> kTopTables = {
    "experiment", "job", "parallel", "plugins", "collect", "link", "time", "predict", "report"};
constexpr std::string_view kVerifyTable = "verify";
constexpr std::array<std::string_view, 2> kPlaceholders = {"world_size", "rank"};

/// The values of one table by name.
class Values {
 public:
  Values(std::span<const Option> rows, std::vector<OptionValue> values)
      : rows_(rows), values_(std::move(values)) {}

  OptionValue& operator[](std::string_view name) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].name == name) {
        return values_[i];
      }
    }
    PRISM_ASSERT(false);
    return values_.front();
  }
  std::span<const Option> rows() const { return rows_; }
  const std::vector<OptionValue>& all() const { return values_; }

 private:
  std::span<const Option> rows_;
  std::vector<OptionValue> values_;
};

std::optional<std::string> optional_text(const OptionValue& value) {
  return value.set() ? std::optional<std::string>(value.text()) : std::nullopt;
}

bool is_list_of_tables(const Value& value) {
  const List* list = value.list();
  return list != nullptr && !list->empty() && list->front().table() != nullptr;
}

class Loader {
 public:
  Loader(const std::string& file, std::shared_ptr<const Document> document,
         Diagnostics& diagnostics)
      : document_(std::move(document)), diagnostics_(diagnostics) {
    experiment_.file = file;
    experiment_.document = document_;
    std::error_code error;
    std::filesystem::path full = std::filesystem::absolute(file, error);
    folder_ = absolute_path("/", full.parent_path().string());
  }

  Experiment load() {
    check_top_level();
    load_experiment_table();
    load_job();
    load_parallel();
    load_plugins();
    load_collect();
    load_links();
    load_time();
    load_predict();
    load_verify();
    load_report();
    return std::move(experiment_);
  }

 private:
  const Table& root() const { return *document_->root.table(); }

  void error(ErrorCode code, const Span& span, std::string message, std::string hint = {},
             std::vector<Note> notes = {}, Origin origin = Origin::File) {
    diagnostics_.add({code, span, std::move(message), std::move(hint), std::move(notes), origin});
  }
  /// At what is written for an option.
  void error(ErrorCode code, const OptionValue& value, std::string message, std::string hint = {},
             std::vector<Note> notes = {}) {
    error(code, value.span(), std::move(message), std::move(hint), std::move(notes), value.origin);
  }

  void check_top_level() {
    std::vector<std::string_view> tables(kTopTables.begin(), kTopTables.end());
    tables.push_back(kVerifyTable);
    for (const Member& member : root().members) {
      if (std::find(tables.begin(), tables.end(), member.key) != tables.end()) {
        continue;
      }
      std::string name = printable(member.key);
      bool is_table = member.value.table() != nullptr || is_list_of_tables(member.value);
      Diagnostic d;
      d.code = is_table ? ErrorCode::UnknownTable : ErrorCode::UnknownKey;
      d.span = member.key_span;
      d.origin = member.value.origin;
      d.message = is_table ? "unknown table [" + name + "]"
                           : "unknown key '" + name + "' outside of any table";
      if (diagnostics_.wants(d.span.begin)) {
        d.hint = is_table ? suggestion(member.key, tables) : table_of(member.key);
      }
      diagnostics_.add(std::move(d));
    }
  }

  static std::string table_of(std::string_view key) {
    for (const TableSchema& table : experiment_schema()) {
      for (const Option& row : table.options) {
        if (row.name == key) {
          return "'" + std::string(key) + "' belongs in [" + std::string(table.name) + "]";
        }
      }
    }
    return {};
  }

  /// A value that must be a table; null, and an error, where it is something else.
  const Value* as_table(const Value& value, const Span& key_span, const std::string& label) {
    if (value.table() != nullptr) {
      return &value;
    }
    bool tables = is_list_of_tables(value);
    error(ErrorCode::Type, tables ? value.list()->front().span : key_span,
          tables
              ? "[" + label + "] must be one table, not a list of tables"
              : "'" + label + "' must be a table, not a value of kind " + std::string(value.kind()),
          "write [" + label + "]", {}, value.origin);
    return nullptr;
  }

  const Value* find_table(std::string_view name, bool required = false) {
    for (const Member& member : root().members) {
      if (member.key == name) {
        return as_table(member.value, member.key_span, member.key);
      }
    }
    if (required) {
      std::string keys;
      for (const Option& row : schema_rows(name)) {
        if (row.required) {
          keys += (keys.empty() ? "'" : ", '") + std::string(row.name) + "'";
        }
      }
      error(ErrorCode::MissingTable, Span{}, "missing table [" + std::string(name) + "]",
            "it needs " + keys);
    }
    return nullptr;
  }

  Values read(std::string_view schema, std::string label, const Value* table,
              std::span<const std::string_view> subtables = {}) {
    auto rows = schema_rows(schema);
    TableScope scope{std::move(label), table, folder_, subtables, experiment_schema()};
    return {rows, validate_options(scope, rows, diagnostics_)};
  }

  void record(const std::string& label, const Values& values) {
    for (size_t i = 0; i < values.rows().size(); ++i) {
      const OptionValue& value = values.all()[i];
      if (value.set()) {
        experiment_.effective.push_back({label, std::string(values.rows()[i].name),
                                         write_option(values.rows()[i], value), value.origin,
                                         value.span().begin.line});
      }
    }
  }

  // --- [experiment] and [job] ---------------------------------------------------------------

  void load_experiment_table() {
    Values values = read("experiment", "experiment", find_table("experiment", true));
    OptionValue& name = values["name"];
    check_name(name);
    OptionValue& run_dir = values["run_dir"];
    if (!run_dir.set() && run_dir.written == nullptr && name.set()) {
      run_dir.data = absolute_path(folder_, "runs/" + name.text());
    }
    experiment_.name = name.text();
    experiment_.run_dir = run_dir.text();
    experiment_.seed = static_cast<uint64_t>(values["seed"].integer());
    record("experiment", values);
  }

  void check_name(const OptionValue& name) {
    constexpr size_t kMaxLength = 128;
    if (!name.set()) {
      return;
    }
    static constexpr std::string_view kAllowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const std::string& text = name.text();
    size_t bad = text.find_first_not_of(kAllowed);
    if (bad != std::string::npos) {
      Span span =
          name.written != nullptr ? diagnostics_.inside(*name.written, bad, bad + 1) : Span{};
      error(ErrorCode::Name, span,
            "'name' in [experiment] may have letters, digits, '.', '_' and '-', not as in \"" +
                printable(text) + "\"",
            {}, {}, name.origin);
    } else if (text.find_first_not_of('.') == std::string::npos) {
      error(ErrorCode::Name, name,
            text.empty() ? "'name' in [experiment] must not be empty"
                         : "'name' in [experiment] must not be only dots: it names a folder");
    } else if (text.size() > kMaxLength) {
      error(ErrorCode::Name, name,
            "'name' in [experiment] has " + std::to_string(text.size()) + " characters; at most " +
                std::to_string(kMaxLength) + " are allowed");
    }
  }

  void load_job() {
    Values values = read("job", "job", find_table("job", true));
    check_path(values["script"], "'script' in [job]", false);
    check_path(values["inputs"], "'inputs' in [job]", false);
    OptionValue& cwd = values["cwd"];
    if (!cwd.set() && cwd.written == nullptr) {
      cwd.data = folder_;
    } else {
      check_path(cwd, "'cwd' in [job]", true);
    }
    check_placeholders(values["args"]);
    check_environment(values["env"]);
    experiment_.job = {values["script"].text(), values["args"].texts(), values["env"].pairs(),
                       values["inputs"].texts(), cwd.text()};
    record("job", values);
  }

  /// Whether what a path (or each of a list) names is there and is what it should be.
  void check_path(const OptionValue& value, const std::string& where, bool folder) {
    if (value.written == nullptr) {
      return;
    }
    if (const auto* list = value.written->list()) {
      for (const Value& item : *list) {
        check_path(item, where, folder);
      }
    } else {
      check_path(*value.written, where, folder);
    }
  }
  void check_path(const Value& written, const std::string& where, bool folder) {
    const std::string* text = written.string();
    // What is no path at all was reported by the table.
    if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) {
      return;
    }
    std::error_code failed;
    auto status = std::filesystem::status(absolute_path(folder_, *text), failed);
    if (folder ? std::filesystem::is_directory(status) : std::filesystem::is_regular_file(status)) {
      return;
    }
    // As the user would look for it: from where the experiment file was named.
    auto shown = std::filesystem::path(experiment_.file).parent_path() / *text;
    std::string name = "'" + printable(shown.string(), 4096) + "'";
    std::string kind = folder ? "folder" : "file";
    error(ErrorCode::Path, written.span,
          where + ": " +
              (std::filesystem::exists(status) ? name + " is not a " + kind
                                               : "the " + kind + " " + name + " is not there"),
          std::filesystem::path(*text).is_relative() ? "paths are relative to the experiment file"
                                                     : "",
          {}, written.origin);
  }

  void check_placeholders(const OptionValue& args) {
    const List* list = args.written != nullptr ? args.written->list() : nullptr;
    if (list == nullptr) {
      return;
    }
    for (const Value& item : *list) {
      const std::string text = item.string() != nullptr ? *item.string() : std::string();
      for (auto found = find_placeholder(text, 0); found;
           found = find_placeholder(text, found->end)) {
        bool known = std::find(kPlaceholders.begin(), kPlaceholders.end(), found->name) !=
                     kPlaceholders.end();
        if (known || found->escaped) {
          continue;
        }
        std::string written = "{" + printable(found->name) + "}";
        std::string hint = suggestion(found->name, kPlaceholders);
        hint.append(" (write {").append(written).append("} for the text ");
        hint.append(written).append(")");
        error(ErrorCode::Placeholder, diagnostics_.inside(item, found->begin, found->end),
              "unknown placeholder '" + written + "'", std::move(hint), {}, item.origin);
      }
    }
  }

  void check_environment(const OptionValue& env) {
    const Table* table = env.written != nullptr ? env.written->table() : nullptr;
    if (table == nullptr) {
      return;
    }
    for (const Member& member : table->members) {
      if (member.key.empty() ||
          member.key.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
        error(ErrorCode::Name, member.key_span,
              "\"" + printable(member.key) + "\" cannot be the name of an environment variable",
              "it must not be empty or contain '='", {}, member.value.origin);
      }
    }
  }

  // --- [parallel] ---------------------------------------------------------------------------

  void load_parallel() {
    Values values = read("parallel", "parallel", find_table("parallel", true));
    const OptionValue& world_size = values["world_size"];
    auto& parallel = experiment_.parallel;
    parallel.check_replicas = static_cast<uint32_t>(values["check_replicas"].integer());
    if (world_size.set()) {
      parallel.world_size = static_cast<uint32_t>(world_size.integer());
      world_size_note_ = {world_size.span(),
                          "world_size = " + std::to_string(parallel.world_size) + " set here",
                          world_size.origin};
      load_sandbox(values["sandbox"]);
      load_classes(values["classes"]);
    }
    world_size_known_ = world_size.set();
    record("parallel", values);
  }

  void load_sandbox(const OptionValue& sandbox) {
    const List* list =
        sandbox.set() && sandbox.written != nullptr ? sandbox.written->list() : nullptr;
    if (list == nullptr) {
      return;
    }
    std::unordered_map<int64_t, size_t> seen;
    for (size_t i = 0; i < list->size(); ++i) {
      const Value& item = (*list)[i];
      int64_t rank = sandbox.integers()[i];
      std::string name = "rank " + std::to_string(rank);
      auto [first, is_new] = seen.try_emplace(rank, i);
      if (!is_new) {
        error(ErrorCode::Duplicate, item.span, name + " is twice in 'sandbox'", {},
              {{(*list)[first->second].span, "first named here", item.origin}}, item.origin);
      } else if (rank >= int64_t{experiment_.parallel.world_size}) {
        error(ErrorCode::Rank, item.span,
              name + " in 'sandbox' does not exist: world_size is " +
                  std::to_string(experiment_.parallel.world_size),
              {}, {world_size_note_}, item.origin);
      } else {
        experiment_.parallel.sandbox.push_back(static_cast<Rank>(rank));
      }
    }
  }

  void load_classes(const OptionValue& value) {
    if (!value.set()) {
      return;
    }
    ClassSpec spec;
    spec.is_list = std::holds_alternative<std::vector<std::string>>(value.data);
    spec.items = spec.is_list ? value.texts() : std::vector<std::string>{value.text()};
    std::vector<ClassProblem> problems;
    auto classes = resolve_classes(spec, experiment_.parallel.world_size, problems);
    if (classes) {
      experiment_.parallel.classes = std::move(*classes);
    }
    auto span_of = [&](const std::optional<ClassPlace>& place) {
      if (!place || value.written == nullptr) {
        return value.span();
      }
      const List* list = value.written->list();
      const Value& item = list != nullptr ? (*list)[place->item] : *value.written;
      return diagnostics_.inside(item, place->begin, place->end);
    };
    for (ClassProblem& problem : problems) {
      std::vector<Note> notes;
      if (problem.other) {
        notes.push_back({span_of(problem.other), problem.other_message, value.origin});
      }
      if (problem.beyond_world || problem.code == ErrorCode::ClassCover) {
        notes.push_back(world_size_note_);
      }
      error(problem.code, span_of(problem.place), "'classes' in [parallel]: " + problem.message,
            problem.hint, std::move(notes), value.origin);
    }
  }

  // --- [plugins] ----------------------------------------------------------------------------

  void load_plugins() {
    static constexpr std::array<std::string_view, 1> kSubtables = {"options"};
    const Value* table = find_table("plugins");
    Values values = read("plugins", "plugins", table, kSubtables);
    for (std::string_view kind : {"runtime", "launcher", "router", "adapter"}) {
      const OptionValue& id = values[kind];
      if (id.set() && !is_plugin_id(id.text())) {
        error(ErrorCode::Name, id, bad_plugin_id(id.text()), kPluginIdHint);
      }
    }
    OptionValue& path = values["path"];
    if (path.set() && path.written != nullptr) {
      StringPairs folders = path.pairs();
      const auto& members = path.written->table()->members;
      for (size_t i = 0; i < folders.size(); ++i) {
        if (!is_plugin_id(folders[i].first)) {
          error(ErrorCode::Name, members[i].key_span, bad_plugin_id(folders[i].first),
                kPluginIdHint, {}, members[i].value.origin);
        }
        folders[i].second = absolute_path(folder_, folders[i].second);
        check_path(members[i].value, "'" + printable(folders[i].first) + "' in [plugins.path]",
                   true);
      }
      path.data = std::move(folders);
    }
    experiment_.plugins = {values["runtime"].text(), values["launcher"].text(),
                           optional_text(values["router"]), optional_text(values["adapter"]),
                           path.pairs()};
    record("plugins", values);
    if (const Value* options = table != nullptr ? table->table()->find("options") : nullptr) {
      load_plugin_options(*options);
    }
  }

  void load_plugin_options(const Value& options) {
    if (as_table(options, options.span, "plugins.options") == nullptr) {
      return;
    }
    for (const Member& plugin : options.table()->members) {
      std::string label = "plugins.options." + write_key(plugin.key);
      if (as_table(plugin.value, plugin.key_span, label) == nullptr) {
        continue;
      }
      if (!is_plugin_id(plugin.key)) {
        error(ErrorCode::Name, plugin.key_span, bad_plugin_id(plugin.key), kPluginIdHint, {},
              plugin.value.origin);
      }
      for (const Member& option : plugin.value.table()->members) {
        experiment_.effective.push_back({label, write_key(option.key), write_toml(option.value),
                                         option.value.origin, option.value.span.begin.line});
      }
    }
  }

  // --- the rest -----------------------------------------------------------------------------

  void load_collect() {
    static constexpr std::array<std::string_view, 1> kSubtables = {"rule"};
    const Value* table = find_table("collect");
    Values values = read("collect", "collect", table, kSubtables);
    experiment_.collect = {
        static_cast<uint32_t>(values["slots"].integer()), values["timeout"].integer(), {}};
    record("collect", values);
    if (const Value* rules = table != nullptr ? table->table()->find("rule") : nullptr) {
      const uint32_t world_size =
          world_size_known_ ? experiment_.parallel.world_size : uint32_t{kMaxWorldSize};
      experiment_.collect.rules = read_collect_rules(*rules, world_size, folder_, diagnostics_);
      experiment_.effective.push_back(
          {"collect", "rule", write_toml(*rules), rules->origin, rules->span.begin.line});
    }
  }

  void load_links() {
    bool found_default = false;
    if (const Value* links = find_table("link")) {
      for (const Member& member : links->table()->members) {
        std::string label = "link." + write_key(member.key);
        if (member.value.table() == nullptr) {
          std::string hint = table_of(member.key).empty()
                                 ? "links are tables such as [link.default]"
                                 : "'" + member.key + "' belongs in a table such as [link.default]";
          error(ErrorCode::UnknownKey, member.key_span,
                "unknown key '" + printable(member.key) + "' in [link]", hint, {},
                member.value.origin);
          continue;
        }
        found_default = found_default || member.key == "default";
        load_link(member, label);
      }
    }
    if (world_size_known_ && experiment_.parallel.world_size > 1 && !found_default) {
      error(ErrorCode::Link, world_size_note_.span,
            "world_size = " + std::to_string(experiment_.parallel.world_size) +
                " needs a table [link.default]",
            R"(e.g. latency = "25 us" and bandwidth = "12.5 GB/s")", {}, world_size_note_.origin);
    }
  }

  void load_link(const Member& member, const std::string& label) {
    static constexpr std::array<std::string_view, 1> kSubtables = {"match"};
    Values values = read("link.NAME", label, &member.value, kSubtables);
    Link link;
    link.name = member.key;
    link.latency = values["latency"].integer();
    link.bandwidth = values["bandwidth"].integer();
    link.per_message = values["per_message"].integer();
    if (values["reduce_bandwidth"].set()) {
      link.reduce_bandwidth = values["reduce_bandwidth"].integer();
    }
    if (values["copy_bandwidth"].set()) {
      link.copy_bandwidth = values["copy_bandwidth"].integer();
    }
    record(label, values);

    const Value* match = member.value.table()->find("match");
    bool is_default = member.key == "default";
    if (match != nullptr && as_table(*match, match->span, label + ".match") != nullptr) {
      Values conditions = read("link.NAME.match", label + ".match", match);
      link.backend = optional_text(conditions["backend"]);
      link.description = optional_text(conditions["description"]);
      record(label + ".match", conditions);
      if (is_default) {
        error(ErrorCode::Link, match->span, "[link.default] must not have a 'match'",
              "it is used where no other link matches", {}, match->origin);
      } else if (match->table()->members.empty()) {
        error(ErrorCode::Link, match->span, "'match' in [" + label + "] is empty", kMatchHint, {},
              match->origin);
      }
    } else if (match == nullptr && !is_default) {
      error(ErrorCode::Link, member.value.span,
            "[" + label + "] needs a 'match' that says when it is used", kMatchHint, {},
            member.value.origin);
    }
    if (is_default) {
      experiment_.default_link = std::move(link);
    } else {
      experiment_.links.push_back(std::move(link));
    }
  }
  static constexpr const char* kMatchHint = R"(e.g. match = { backend = "nccl" })";

  void load_time() {
    Values values = read("time", "time", find_table("time"));
    experiment_.time = {static_cast<uint32_t>(values["repeats"].integer()),
                        static_cast<uint32_t>(values["warmup_iterations"].integer())};
    record("time", values);
  }

  void load_predict() {
    Values values = read("predict", "predict", find_table("predict"));
    const OptionValue& scale = values["compute_scale"];
    if (scale.set() && scale.real() <= 0) {
      error(ErrorCode::Range, scale,
            "'compute_scale' in [predict] must be above 0, not " + write_float(scale.real()));
    }
    experiment_.predict = {scale.real()};
    record("predict", values);
  }

  void load_verify() {
    const Value* table = find_table(kVerifyTable);
    if (table == nullptr) {
      return;
    }
    for (const Member& member : table->table()->members) {
      std::string label = "verify." + write_key(member.key);
      uint32_t ranks = 0;
      const char* end = member.key.data() + member.key.size();
      auto parsed = std::from_chars(member.key.data(), end, ranks);
      bool good = parsed.ec == std::errc() && parsed.ptr == end && member.key[0] != '0' &&
                  ranks <= kMaxWorldSize;
      if (!good) {
        std::string belongs = member.key == "args" || member.key == "env"
                                  ? "'" + member.key + "' belongs in a table such as [verify.2]"
                                  : "write a table such as [verify.2]";
        error(ErrorCode::Name, member.key_span,
              "'" + printable(member.key) + "' in [verify] is not a number of ranks from 1 to " +
                  std::to_string(kMaxWorldSize),
              belongs, {}, member.value.origin);
        continue;
      }
      if (as_table(member.value, member.key_span, label) == nullptr) {
        continue;
      }
      Values values = read("verify.N", label, &member.value);
      check_placeholders(values["args"]);
      check_environment(values["env"]);
      VerifyShape shape;
      if (values["args"].set()) {
        shape.args = values["args"].texts();
      }
      shape.env = values["env"].pairs();
      experiment_.verify.emplace(ranks, std::move(shape));
      record(label, values);
    }
  }

  void load_report() {
    Values values = read("report", "report", find_table("report"));
    experiment_.report = {static_cast<uint32_t>(values["timeline_ranks"].integer())};
    record("report", values);
  }

  std::shared_ptr<const Document> document_;
  Diagnostics& diagnostics_;
  std::string folder_;
  Experiment experiment_;
  Note world_size_note_;
  bool world_size_known_ = false;
};

/// Puts a value of the command line into the tree, in place of what is there.
void apply_override(const Override& given, Value& root, Diagnostics& diagnostics) {
  auto refuse = [&](std::string message) {
    diagnostics.add({ErrorCode::Override, {}, std::move(message), {}, {}, Origin::CommandLine});
  };
  std::string shown = "'" + printable(given.key) + "'";
  if (find_invalid_utf8(given.key) != std::string::npos ||
      find_invalid_utf8(given.value) != std::string::npos) {
    refuse("the value of " + shown + " is not valid UTF-8");
    return;
  }
  Value value;
  if (auto parsed = parse_toml_value(given.value, Origin::CommandLine)) {
    value = std::move(*parsed);
  } else {
    value.data = given.value;
    value.origin = Origin::CommandLine;
  }
  Value* at = &root;
  for (size_t begin = 0;;) {
    size_t end = given.key.find('.', begin);
    std::string part = given.key.substr(begin, end == std::string::npos ? end : end - begin);
    auto* table = std::get_if<Table>(&at->data);
    if (part.empty() || table == nullptr || (begin == 0 && end == std::string::npos)) {
      refuse(shown + " is not the name of an option, such as collect.slots");
      return;
    }
    Value* next = table->find(part);
    if (next == nullptr) {
      Value fresh;
      fresh.data = Table{};
      fresh.origin = Origin::CommandLine;
      table->members.push_back({part, {}, std::move(fresh)});
      next = &table->members.back().value;
    }
    at = next;
    if (end == std::string::npos) {
      break;
    }
    begin = end + 1;
  }
  *at = std::move(value);
}

}  // namespace

LoadResult load_experiment(const std::string& path, const std::vector<Override>& overrides) {
  auto read = read_source(path);
  if (auto* diagnostics = std::get_if<Diagnostics>(&read)) {
    return {std::nullopt, std::move(*diagnostics)};
  }
  auto source = std::get<std::shared_ptr<const Source>>(std::move(read));
  auto parsed = parse_toml(source);
  if (auto* diagnostics = std::get_if<Diagnostics>(&parsed)) {
    return {std::nullopt, std::move(*diagnostics)};
  }
  Diagnostics diagnostics(source);
  auto document = std::make_shared<Document>(Document{source, std::get<Value>(std::move(parsed))});
  for (const Override& given : overrides) {
    apply_override(given, document->root, diagnostics);
  }
  Experiment experiment = Loader(path, document, diagnostics).load();
  if (!diagnostics.empty()) {
    return {std::nullopt, std::move(diagnostics)};
  }
  return {std::move(experiment), std::move(diagnostics)};
}

Diagnostics check_file(const std::string& path) {
  return load_experiment(path).diagnostics;
}

std::string render_effective(const Experiment& experiment) {
  std::string out = "# The experiment as it is in force; beside each value where it comes from.\n";
  std::string_view table;
  for (const EffectiveValue& value : experiment.effective) {
    if (value.table != table) {
      table = value.table;
      out += "\n[" + value.table + "]\n";
    }
    std::string origin = value.origin == Origin::Default ? "default"
                         : value.origin == Origin::CommandLine
                             ? "command line"
                             : printable(experiment.file, 4096) + ":" + std::to_string(value.line);
    out += value.key + " = " + value.toml + "  # " + origin + "\n";
  }
  return out;
}

const Link* choose_link(const Experiment& experiment, std::string_view backend,
                        std::string_view description) {
  for (const Link& link : experiment.links) {
    if ((!link.backend || *link.backend == backend) &&
        (!link.description || *link.description == description)) {
      return &link;
    }
  }
  return experiment.default_link ? &*experiment.default_link : nullptr;
}

}  // namespace prism::config
