// SPDX-License-Identifier: Apache-2.0
// The plugin as the host sees it, through its library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prism/host/library.hpp"
#include "prism/host/sinks.hpp"
#include "tests/plugins/chakra/exported.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::HasSubstr;

class ChakraPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = std::string(PRISM_PLUGIN_ROOT) + "/chakra/libprism_chakra.so";
    library_.emplace(host::LibraryPlace{"chakra", path, host::library_hash(path)});
    const void* table = nullptr;
    ASSERT_TRUE(library_->open().ok());
    ASSERT_TRUE(library_->interface(PRISM_FORMAT_1, table).ok());
    format_ = static_cast<const prism_format_t*>(table);
    prism_option_value_t values[2] = {};
    values[0].type = PRISM_OPTION_STRING;
    values[0].set = 1;
    values[0].u.text = sdk::to_c("auto");
    values[1].type = PRISM_OPTION_PATH;
    ASSERT_EQ(format_->open(values, 2, &session_, nullptr), PRISM_STATUS_OK);
  }
  void TearDown() override {
    if (session_ != nullptr) {
      format_->close(session_);
    }
  }

  bool knows(const std::string& path) {
    return format_->recognises(session_, sdk::to_c(path)) == 1;
  }
  std::string error_of(const std::string& path, uint32_t rank = PRISM_UNKNOWN_RANK) {
    const host::ErrorSink error;
    Record record;
    const prism_trace_input_t input{sizeof input, rank, sdk::to_c(path)};
    const prism_status_t status =
        format_->import_trace(session_, &input, 1, &record.c(), error.c());
    return status == PRISM_STATUS_OK ? "" : error.message(status);
  }

  TemporaryFolder folder_;
  std::optional<host::Library> library_;
  const prism_format_t* format_ = nullptr;
  prism_format_session_t* session_ = nullptr;
};

TEST_F(ChakraPlugin, RecognisesItsFilesByNameAndByContent) {
  const std::string bytes = TraceBytes().add(computation(0)).bytes();
  EXPECT_TRUE(knows(folder_.file("trace.0.et", bytes)));
  EXPECT_TRUE(knows(folder_.file("damaged.0.et", "?")));
  EXPECT_TRUE(knows(folder_.file("without_suffix", bytes)));
  EXPECT_FALSE(
      knows(folder_.file("trace.json", "{\n  \"schemaVersion\": 1, \"traceEvents\": []}")));
  EXPECT_FALSE(knows(folder_.file("empty", "")));
  EXPECT_FALSE(knows(folder_.path() + "/none"));
}

TEST_F(ChakraPlugin, TheRankIsThatWhichIsGivenElseThatOfTheName) {
  const std::string bytes = TraceBytes().add(computation(0)).bytes();
  EXPECT_EQ(error_of(folder_.file("trace.0.et", bytes)), "");
  const std::string unnamed = folder_.file("trace.et", bytes);
  EXPECT_EQ(error_of(unnamed, 0), "");
  EXPECT_THAT(error_of(unnamed),
              HasSubstr("trace.et: the name does not say of which rank the trace "
                        "is; NAME.RANK.et was expected, or give it as RANK="));
  EXPECT_THAT(error_of(folder_.file("trace.1x.et", bytes)),
              HasSubstr("does not say of which rank"));
  EXPECT_THAT(error_of(folder_.path() + "/no.0.et"),
              HasSubstr("no.0.et: cannot be opened: No such"));
  EXPECT_THAT(error_of(folder_.path(), 0), HasSubstr("is no regular file"));
}

TEST_F(ChakraPlugin, TakesTheUsersFileOfGroups) {
  const std::string groups = folder_.file("groups.json", R"({"3": [0, 1]})");
  prism_option_value_t values[2] = {};
  values[0].type = PRISM_OPTION_STRING;
  values[0].set = 1;
  values[0].u.text = sdk::to_c("auto");
  values[1].type = PRISM_OPTION_PATH;
  values[1].set = 1;
  values[1].u.text = sdk::to_c(groups);
  format_->close(session_);
  session_ = nullptr;
  const host::ErrorSink error;
  ASSERT_EQ(format_->open(values, 2, &session_, error.c()), PRISM_STATUS_OK)
      << error.message(PRISM_STATUS_INTERNAL);
  const NodeBytes node = collective(0, CollectiveType::AllReduce, 8).text(attribute::kGroup, "3");
  Record record;
  const std::string path = folder_.file("trace.0.et", TraceBytes().add(node).bytes());
  const prism_trace_input_t input{sizeof input, 0, sdk::to_c(path)};
  ASSERT_EQ(format_->import_trace(session_, &input, 1, &record.c(), error.c()), PRISM_STATUS_OK)
      << error.message(PRISM_STATUS_INTERNAL);
  EXPECT_THAT(record.ranks.at(0).communicators.at(0).ranks, ::testing::ElementsAre(0, 1));
}

TEST_F(ChakraPlugin, ExportsAFolder) {
  EXPECT_EQ(format_->exports_folder, 1);
  const sdk::testing::FakeTraceReader reader({rank_of(0), rank_of(1)});
  ASSERT_EQ(format_->export_trace(session_, &reader.c(), sdk::to_c(folder_.path()), nullptr),
            PRISM_STATUS_OK);
  EXPECT_EQ(error_of(folder_.path() + "/trace.1.et"), "");
  const host::ErrorSink error;
  const std::string nowhere = folder_.path() + "/none";
  EXPECT_NE(format_->export_trace(session_, &reader.c(), sdk::to_c(nowhere), error.c()),
            PRISM_STATUS_OK);
  EXPECT_THAT(error.message(PRISM_STATUS_OK), HasSubstr("none/trace.0.et: cannot be opened"));
}

}  // namespace
}  // namespace prism::chakra::testing
