// SPDX-License-Identifier: Apache-2.0
// S5 of formats that import: what comes from a file is told as the host takes it, or refused with
// the file's name (prism/abi/draft/format.h).
#include <algorithm>
#include <filesystem>

#include "prism/host/status.hpp"
#include "prism/sdk/random.hpp"
#include "sdk/child/supervisor.hpp"
#include "sdk/conformance/format_bench.hpp"
#include "sdk/conformance/format_interface.hpp"
#include "sdk/conformance/process.hpp"
#include "sdk/conformance/suite.hpp"

namespace prism::conformance {
namespace {

/// What an importer may need for a damaged file, however small: more is a length that it believed.
constexpr uint64_t kDamagedDataBytes = uint64_t{512} << 20;
constexpr size_t kMostTrials = 150;
/// Bytes that all trials on one file read together, so that a large sample is no long test.
constexpr size_t kTrialBytes = size_t{24} << 20;

/// A file of a trace of which the other files stay as they are.
class TriedFile {
 public:
  explicit TriedFile(FormatBench& bench)
      : bench_(bench), files_(bench.good_files(folder_)), whole_(read_test_file(files_.front())) {
    require(!whole_.empty(), "'" + file_name(files_.front()) + "', a file of its format, is empty");
  }

  const std::string& whole() const { return whole_; }
  size_t trials() const {
    return std::clamp<size_t>(kTrialBytes / (whole_.size() + 1), 8, kMostTrials);
  }

  /// Imports with `content` in place of the file; whether it is refused. What is not must be as the
  /// host takes it.
  bool is_refused(const std::string& content, const std::string& what) {
    const std::string name =
        std::filesystem::path(files_.front()).lexically_relative(folder_.path("")).string();
    folder_.write(name, content);
    ToldTrace told;
    const std::optional<Refusal> refusal = bench_.import_files(files_, told, what);
    if (!refusal) {
      require(told.problem().empty(),
              "import_trace() of " + what +
                  " succeeds, though the host refuses what it tells: " + told.problem());
      return false;
    }
    require_names(*refusal, files_.front(), "import_trace() of " + what);
    require_of_damage(*refusal, what);
    return true;
  }

 private:
  static void require_of_damage(const Refusal& refusal, const std::string& what) {
    require(refusal.status != PRISM_STATUS_INTERNAL && refusal.status != PRISM_STATUS_UNKNOWN &&
                refusal.status != PRISM_STATUS_RESOURCE_EXHAUSTED,
            "import_trace() of " + what + " fails with status " +
                host::status_name(refusal.status) + " (its words: " + refusal.words +
                "); a file that is damaged is DATA_LOSS or INVALID_ARGUMENT");
  }

  FormatBench& bench_;
  TestFolder folder_;
  std::vector<std::string> files_;
  std::string whole_;
};

void recognises(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  if (bench.table().recognises == nullptr) {
    skip("it leaves it to the user to say which files are of its format");
  }
  const TestFolder folder;
  const struct {
    const char* name;
    const char* what;
    std::string content;
  } strangers[] = {
      {"empty.json", "an empty file", ""},
      {"empty.csv", "an empty file", ""},
      {"random.bin", "random bytes", random_bytes(context.seed(), 5000)},
      {"random.json.gz", "random bytes", random_bytes(context.seed(), 5001)},
      {"zeros.txt", "a file of zeros", std::string(5000, '\0')},
      {"other.json", "another program's JSON", "{\"hello\": [1, 2, 3]}\n"},
      {"other.csv", "another program's CSV", "day,price\n1,2.5\n"},
  };
  for (const auto& stranger : strangers) {
    const std::string path = folder.write(stranger.name, stranger.content);
    const std::string what = std::string(stranger.what) + " ('" + stranger.name + "')";
    require(!bench.recognises(path, what), "recognises() takes " + what + " for its own");
  }
  require(!bench.recognises(folder.path("nowhere.json"), "a file that is not there"),
          "recognises() takes a file that is not there for its own");
  require(!bench.recognises(folder.make_folder("folder.json"), "a folder"),
          "recognises() takes a folder for its own");
}

void recognises_own(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  if (bench.table().recognises == nullptr) {
    skip("it leaves it to the user to say which files are of its format");
  }
  const TestFolder folder;
  const std::vector<std::string> files = bench.good_files(folder);
  const std::string whole = read_test_file(files.front());
  require(
      bench.recognises(files.front(), "a file of its own format"),
      "recognises() does not know '" + file_name(files.front()) + "', a file of its own format");
  const std::string name =
      std::filesystem::path(files.front()).lexically_relative(folder.path("")).string();
  for (size_t size = 0; size < std::min<size_t>(whole.size(), 600); ++size) {
    folder.write(name, whole.substr(0, size));  // either answer is right
    bench.recognises(files.front(), "the first " + std::to_string(size) + " bytes of a file");
  }
}

void imports(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  const auto attempt = [&](const std::vector<std::string>& files, const std::string& what) {
    ToldTrace told;
    const std::optional<Refusal> refusal = bench.import_files(files, told, what);
    require(told.problem().empty(),
            "import_trace() of " + what + " tells what the host refuses: " + told.problem());
    if (refusal) {
      fail("import_trace() of " + what + " fails: " + refusal->words);
    }
    require(told.problem_at_end().empty(),
            "import_trace() of " + what + " succeeds, but " + told.problem_at_end());
  };
  {
    const TestFolder folder;
    attempt(bench.good_files(folder),
            context.subject().samples.empty() ? "an own export" : "the sample");
  }
  if (!bench.exports()) {
    return;
  }
  for (const Timeline& timeline : timelines()) {
    const TestFolder folder;
    if (!bench.export_to(make_export_place(bench.table(), folder), timeline, timeline.what)) {
      attempt(bench.own_files(folder), "its export of " + timeline.what);
    }
  }
}

void random(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  TriedFile file(bench);
  child::limit_resources(kDamagedDataBytes);
  constexpr size_t kSizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 500, 4096, 70'000};
  for (const size_t size : kSizes) {
    for (uint64_t round = 0; round < 4; ++round) {
      const std::string what = std::to_string(size) + " random bytes";
      require(file.is_refused(random_bytes(sdk::mix({context.seed(), round}), size), what),
              "import_trace() of " + what + " succeeds");
    }
  }
}

/// Where a format has no mark of its end, a cut between two entries is not to be seen; one inside
/// of an entry is.
void cut(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  TriedFile file(bench);
  child::limit_resources(kDamagedDataBytes);
  sdk::Random place(sdk::mix({context.seed(), 6}));
  size_t trials = 0;
  size_t taken = 0;
  std::string example;
  for (; trials < file.trials(); ++trials) {
    const size_t size = static_cast<size_t>(place.below(file.whole().size()));
    const std::string what = "the first " + std::to_string(size) + " of " +
                             std::to_string(file.whole().size()) + " bytes of a trace";
    if (!file.is_refused(file.whole().substr(0, size), what)) {
      ++taken;
      example = what;
    }
  }
  require(2 * taken <= trials, "import_trace() takes " + std::to_string(taken) + " of " +
                                   std::to_string(trials) +
                                   " files that are cut for whole ones, such as " + example);
}

/// `whole` with one thing wrong: a byte, eight bytes as of a huge number, a number in digits that
/// is huge.
std::string with_damage(const std::string& whole, size_t trial, sdk::Random& random) {
  constexpr unsigned char kBytes[] = {0x00, 0xff, 0x7f, 0x80, '"', '9', '-', '\n'};
  std::string content = whole;
  const size_t at = static_cast<size_t>(random.below(content.size()));
  switch (trial % 4) {
    case 0:
      content[at] = static_cast<char>(kBytes[random.below(sizeof kBytes)]);
      break;
    case 1:
      content[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      content.replace(at, 8, 8, '\xff');
      break;
    default:
      content.insert(std::min(content.find_first_of("0123456789", at), content.size()), "99999999");
  }
  return content;
}

/// What is damaged may be a trace too, of another job.
void damaged(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  TriedFile file(bench);
  child::limit_resources(kDamagedDataBytes);
  sdk::Random random(sdk::mix({context.seed(), 7}));
  for (size_t trial = 0; trial < file.trials(); ++trial) {
    file.is_refused(with_damage(file.whole(), trial, random),
                    "a damaged trace (number " + std::to_string(trial) + " of this test)");
  }
}

/// Each of the first calls, and some of those that follow.
void refusal(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  const TestFolder folder;
  const std::vector<std::string> files = bench.good_files(folder);
  ToldTrace whole;
  bench.import_files(files, whole, "a trace");
  constexpr uint64_t kEach = 24;
  for (uint64_t call = 0; call < whole.calls(); call += call < kEach ? 1 : whole.calls() / 8 + 1) {
    const prism_status_t code =
        call % 2 == 0 ? PRISM_STATUS_INVALID_ARGUMENT : PRISM_STATUS_RESOURCE_EXHAUSTED;
    ToldTrace told(call, code);
    const std::string what =
        "a trace of which the host refuses what call " + std::to_string(call) + " tells";
    const std::optional<Refusal> refused = bench.import_files(files, told, what);
    if (!refused) {
      fail("import_trace() of " + what + " succeeds");
    }
    require(told.calls_after_refusal() == 0, "import_trace() of " + what + " goes on for " +
                                                 std::to_string(told.calls_after_refusal()) +
                                                 " calls; the first refusal ends it");
    require(refused->words.find(ToldTrace::kRefusal) != std::string::npos,
            "import_trace() of " + what +
                " does not pass on the words of the host (its words: " + refused->words + ")");
    require(refused->status == code, "import_trace() of " + what + " makes the host's status " +
                                         host::status_name(code) + " into " +
                                         host::status_name(refused->status));
  }
}

void open_files(Context& context) {
  FormatBench bench(context);
  bench.need_imports();
  TriedFile file(bench);
  const std::string whole = file.whole();
  const size_t left = files_left_open([&] {
    file.is_refused(whole.substr(0, whole.size() / 2), "half a trace");
    file.is_refused(random_bytes(context.seed(), 300), "300 random bytes");
  });
  require(left == 0, "5 imports that failed left " + std::to_string(left) + " files open");
}

}  // namespace

void add_import_tests(Suite& suite) {
  const std::string open = kind_test(3, kFormatKind, "open_close");
  const std::string first = kind_test(5, kFormatKind, "imports");
  const auto add = [&](const char* what, const char* doc, void (*run)(Context&),
                       const std::string& after) {
    suite.push_back({kind_test(5, kFormatKind, what), doc, run, {after}});
  };
  add("recognises", "It does not take empty, random and foreign files for its own.", recognises,
      open);
  add("imports", "What it tells of a trace is as the host takes it.", imports, open);
  add("recognises_own", "It knows a file of its format.", recognises_own, first);
  add("refusal", "What the host refuses ends the import, with the host's words.", refusal, first);
  add("random", "Random bytes are refused with the file's name.", random, first);
  add("cut", "A file that is cut is refused with its name.", cut, first);
  add("damaged", "A damaged file is refused with its name, or told as another trace.", damaged,
      first);
  add("open_files", "An import that fails leaves no files open.", open_files, first);
}

}  // namespace prism::conformance
