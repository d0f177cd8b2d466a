// SPDX-License-Identifier: Apache-2.0
// S5 of formats that export: a timeline is written where the host wants it, and nowhere else, with
// all that it says, or it is an error (prism/abi/draft/format.h).
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <sys/resource.h>

#include "sdk/conformance/format_bench.hpp"
#include "sdk/conformance/format_interface.hpp"
#include "sdk/conformance/process.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

/// The disk as full after `bytes` of a file, until the end of the scope.
class FullDisk {
 public:
  explicit FullDisk(uint64_t bytes) {
    old_action_ = std::signal(SIGXFSZ, SIG_IGN);  // a write then fails, as on a full disk
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit less{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_action_);
  }

 private:
  void (*old_action_)(int);
  rlimit old_{};
};

using Content = std::map<std::string, std::string>;

/// Of all files together.
std::string bytes_of(const Content& content) {
  std::string all;
  for (const auto& [name, bytes] : content) {
    all += bytes;
  }
  return all;
}

/// What an export that must succeed has written.
Content written(FormatBench& bench, const Timeline& timeline, const std::string& what) {
  const TestFolder folder;
  const std::optional<Refusal> refusal =
      bench.export_to(make_export_place(bench.table(), folder), timeline, what);
  if (refusal) {
    fail("export_trace() of " + what + " fails: " + refusal->words);
  }
  return folder.content();
}

void exports(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  for (const Timeline& timeline : timelines()) {
    require(!bytes_of(written(bench, timeline, timeline.what)).empty(),
            "export_trace() of " + timeline.what + " writes nothing");
  }
}

void path(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  const bool into_folder = bench.table().exports_folder != 0;
  for (const Timeline& timeline : timelines()) {
    const TestFolder folder;
    folder.write("beside", "of the user");
    folder.make_folder("beside.folder");
    bench.export_to(make_export_place(bench.table(), folder), timeline, timeline.what);
    Content content = folder.content();
    require(content.erase("beside") == 1 && content.erase("beside.folder") == 1,
            "export_trace() removes what lies beside its path");
    require(content.erase(kExportName) == 1, "export_trace() removes what it was to write");
    for (const auto& [name, bytes] : content) {
      require(into_folder && name.starts_with(std::string(kExportName) + "/"),
              "export_trace() writes '" + name + "', which is not in its path");
    }
  }
}

std::string name_in_words(std::string_view name) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string words;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      words += c;
    } else {
      words += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return "a node of the name '" + words + "'";
}

bool comes_back(FormatBench& bench, const std::string& name) {
  const TestFolder folder;
  const Timeline timeline = one_node(name, 1000);
  const std::string what = name_in_words(name);
  if (bench.export_to(make_export_place(bench.table(), folder), timeline, what)) {
    return false;
  }
  ToldTrace told;
  const std::optional<Refusal> refusal =
      bench.import_files(bench.own_files(folder), told, "its export of " + what);
  return !refusal && told.problem_at_end().empty() && told.has_name(name);
}

constexpr const char* kPlainName = "plain";

void names(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  const std::string odd[] = {"\"",
                             "a\"b",
                             "a'b",
                             "a\\",
                             "a\nb",
                             "a\r\nb",
                             "a,b;c\td",
                             "<a href=&amp;>",
                             "\x01\x1b[31m\x7f",
                             "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                             "%s%n",
                             "{}[]",
                             "# a",
                             " a ",
                             "a = b",
                             std::string("a\0b", 3),
                             std::string(20'000, 'x')};
  const auto export_of = [&](const std::string& name) {
    return bytes_of(written(bench, one_node(name, 1000), name_in_words(name.substr(0, 40))));
  };
  const std::string plain = export_of(kPlainName);
  if (plain == export_of("other")) {
    skip("it does not write names");
  }
  std::map<std::string, std::string> seen{{plain, kPlainName}};
  const bool both_ways = bench.imports() && comes_back(bench, kPlainName);
  for (const std::string& name : odd) {
    const auto [same, fresh] = seen.try_emplace(export_of(name), name);
    require(fresh, "export_trace() writes the same of " + name_in_words(same->second) + " and of " +
                       name_in_words(name.substr(0, 40)));
    require(!both_ways || comes_back(bench, name),
            name_in_words(name.substr(0, 40)) + " is not what import_trace() makes of its export");
  }
  // No host has such a name; a fault of one is no reason to end the process.
  export_of("no \xff\xfe UTF-8 \xc3");
}

void times(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1'000'000'000;
  const auto export_of = [&](int64_t duration_ns) {
    return bytes_of(written(bench, one_node(kPlainName, duration_ns),
                            "a node of " + std::to_string(duration_ns) + " ns"));
  };
  if (export_of(1'000'000) == export_of(2'000'000)) {
    skip("it does not write times");
  }
  export_of(0);
  for (const int64_t years : {0, 1, 50, 120}) {
    const int64_t duration = years * kYear + 1'000'000;
    for (const int64_t more :
         {int64_t{1'000'000}, int64_t{1} << 31, int64_t{1} << 32, 1000 * (int64_t{1} << 32)}) {
      require(export_of(duration) != export_of(duration + more),
              "export_trace() writes the same of a node of " + std::to_string(duration) +
                  " ns and of one of " + std::to_string(duration + more) + " ns");
    }
  }
}

void full_disk(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  const Timeline plain = plain_timeline();
  size_t largest = 0;
  for (const auto& [name, bytes] : written(bench, plain, plain.what)) {
    largest = std::max(largest, bytes.size());
  }
  for (const size_t room : {size_t{0}, largest / 2, largest - std::min<size_t>(largest, 1)}) {
    const TestFolder folder;
    const std::string place = make_export_place(bench.table(), folder);
    const std::string what = "to a disk that is full after " + std::to_string(room) + " bytes";
    std::optional<Refusal> refusal;
    {
      const FullDisk full(room);
      refusal = bench.export_to(place, plain, what);
    }
    if (!refusal) {
      fail("export_trace() " + what + " succeeds");
    }
    require_names(*refusal, place, "export_trace() " + what);
  }
}

void export_files(Context& context) {
  FormatBench bench(context);
  bench.need_exports();
  const Timeline plain = plain_timeline();
  const size_t left = files_left_open([&] {
    const TestFolder folder;
    const std::string place = make_export_place(bench.table(), folder);
    const FullDisk full(1);
    bench.export_to(place, plain, "to a disk that is full");
  });
  require(left == 0, "5 exports that failed left " + std::to_string(left) + " files open");
}

}  // namespace

void add_export_tests(Suite& suite) {
  const std::string open = kind_test(3, kFormatKind, "open_close");
  const std::string first = kind_test(5, kFormatKind, "exports");
  const auto add = [&](const char* what, const char* doc, void (*run)(Context&),
                       const std::string& after) {
    suite.push_back({kind_test(5, kFormatKind, what), doc, run, {after}});
  };
  add("exports", "It writes any timeline, also one with an empty rank or without communicators.",
      exports, open);
  add("path", "It writes its path and nothing beside it.", path, first);
  add("names", "Names of any characters are kept apart, and come back where it imports.", names,
      first);
  add("times", "Durations of up to 120 years are written, not cut off.", times, first);
  add("full_disk", "A full disk is an error with the path.", full_disk, first);
  add("export_files", "An export that fails leaves no files open.", export_files, first);
}

}  // namespace prism::conformance
