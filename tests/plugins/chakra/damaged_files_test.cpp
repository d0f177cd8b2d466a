// SPDX-License-Identifier: Apache-2.0
// Files that are cut, damaged or hostile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugins/chakra/trace_bytes.hpp"

namespace prism::chakra::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::literals;

std::string error_of(const TraceBytes& trace) {
  return Imported({trace}).error();
}

/// An attribute of a node that has none but these bytes.
std::string attribute(std::string_view bytes) {
  std::string message;
  put_bytes(message, node_field::kAttribute, bytes);
  return message;
}

TEST(ChakraDamagedFiles, AHugeLengthIsRefusedAtOnce) {
  // 4 EiB; who believed it would run out of memory here.
  const Imported trace({TraceBytes().raw("\x80\x80\x80\x80\x80\x80\x80\x80\x40\x08\x00"sv)});
  EXPECT_THAT(trace.error(), AllOf(HasSubstr("trace.0.et: message 2 (byte 8) says it has "
                                             "4611686018427387904 bytes, but only 2 are left")));
  EXPECT_EQ(trace.code(), PRISM_STATUS_DATA_LOSS);
}

TEST(ChakraDamagedFiles, ACutFileIsNamedWithItsMessageWhereverItIsCut) {
  const std::string whole =
      TraceBytes().add(computation(1).times(1, 2)).add(computation(300).data({1})).bytes();
  const size_t metadata = TraceBytes().bytes().size();
  const size_t first = TraceBytes().add(computation(1).times(1, 2)).bytes().size();
  for (size_t size = 0; size < whole.size(); ++size) {
    if (size == first) {
      continue;  // a whole file of one node
    }
    const TemporaryFolder folder;
    const std::string path = folder.file("trace.0.et", whole.substr(0, size));
    Record record;
    sdk::TraceSink sink(record.c());
    const sdk::TraceInput input{path, std::nullopt};
    try {
      import_traces({&input, 1}, {}, sink);
      ADD_FAILURE() << "cut at " << size;
    } catch (const sdk::Error& error) {
      EXPECT_EQ(error.code(), PRISM_STATUS_DATA_LOSS);
      EXPECT_THAT(error.what(), HasSubstr(size == 0          ? "is empty"
                                          : size == metadata ? "has no nodes"
                                          : size < metadata  ? "message 1 (byte 0)"
                                          : size < first     ? "message 2 (byte 8)"
                                                             : "message 3 (byte "));
    }
  }
}

TEST(ChakraDamagedFiles, UnknownFieldsAreSkipped) {
  const Imported trace({TraceBytes().add(computation(1)
                                             .number(99, 5)
                                             .raw("\xa2\x06\x02hi")  // 100: bytes
                                             .raw(attribute("\x0a\x01x\x88\x02\x01"sv)))});
  EXPECT_EQ(trace.error(), "");
  EXPECT_EQ(trace.rank().nodes.size(), 1U);
}

TEST(ChakraDamagedFiles, WireTypesThatCannotBeAreNamedWithMessageAndNode) {
  EXPECT_THAT(error_of(TraceBytes().add(computation(7).raw("\x0b"))),
              HasSubstr("trace.0.et: message 2 (byte 8) is no sound node (id 7): its field 1 has "
                        "the wire type 3; 0, 1, 2 or 5 was expected"));
  EXPECT_THAT(error_of(TraceBytes().add(computation(7).raw("\x18\x99\x01"))),
              HasSubstr("(id 7): its type is 153; 0 to 7 was expected"));
  EXPECT_THAT(error_of(TraceBytes().add(computation(7).raw("\x2d\x01\x02\x03\x04"))),
              HasSubstr("field 5 (data_deps) has the wire type 5; 0 was expected"));
  EXPECT_THAT(error_of(TraceBytes().add(computation(7).times(1, ~uint64_t{0}))),
              HasSubstr("duration_micros is 18446744073709551615"));
}

TEST(ChakraDamagedFiles, AFileOfAnotherKindIsSaidSo) {
  const TemporaryFolder folder;
  const auto error_of_file = [&](std::string_view content) {
    Record record;
    sdk::TraceSink sink(record.c());
    const sdk::TraceInput input{folder.file("x.0.et", content), std::nullopt};
    try {
      import_traces({&input, 1}, {}, sink);
    } catch (const sdk::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of_file("\x1f\x8b\x08"sv), HasSubstr("compressed with gzip"));
  EXPECT_THAT(error_of_file("{\"traceEvents\": []}"), HasSubstr("the file is cut or damaged"));
  EXPECT_THAT(error_of_file("\x04\x08\x01\x18\x04"sv), HasSubstr("is no GlobalMetadata"));
}

TEST(ChakraDamagedFiles, ACollectiveIsNeverDroppedWithoutAWord) {
  EXPECT_THAT(error_of(TraceBytes().add(NodeBytes(7, "nccl", NodeType::Collective))),
              HasSubstr("node 7 is a collective (COMM_COLL_NODE) but does not say which; the "
                        "attribute comm_type was expected"));
  EXPECT_THAT(
      error_of(TraceBytes().add(
          NodeBytes(7, "nccl", NodeType::Collective).integer(chakra::attribute::kCollective, 10))),
      HasSubstr("node 7 is a collective of the unknown type 10; comm_type 0 to 9"));
  EXPECT_THAT(
      error_of(TraceBytes().add(
          NodeBytes(7, "nccl", NodeType::Collective).text(chakra::attribute::kCollective, "all"))),
      HasSubstr("(id 7): its attribute 'comm_type' has a value of another type"));
}

}  // namespace
}  // namespace prism::chakra::testing
