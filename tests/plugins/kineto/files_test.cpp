// SPDX-License-Identifier: Apache-2.0
// Files that are compressed, cut, damaged or hostile.
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string gzipped(const std::string& text) {
  const TemporaryFile file("", "trace.gz");
  gzFile out = ::gzopen(file.path().c_str(), "wb");
  ::gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(out);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string three_kernels() {
  return TraceText().kernel(7, 0, 5, 1).kernel(7, 10, 5, 2).kernel(7, 20, 5, 3).text();
}

std::string error_of_text(const std::string& text) {
  const TemporaryFile file(text);
  return error_of({{file.path(), std::nullopt}});
}

TEST(KinetoFiles, GzipIsThatOfThePlainFile) {
  const TemporaryFile file(gzipped(three_kernels()), "any.name");
  Record record;
  import_into(record, {{file.path(), std::nullopt}});
  EXPECT_EQ(record.ranks.at(0).nodes.size(), 3U);
}

TEST(KinetoFiles, ACutFileIsNamedWithItsLine) {
  const std::string text = three_kernels();
  EXPECT_THAT(error_of_text(text.substr(0, text.size() - 20)),
              AllOf(HasSubstr("trace.json', line 4 (byte "), HasSubstr("ends in the middle")));
}

TEST(KinetoFiles, DamagedGzipIsNamedWithItsByte) {
  std::string data = gzipped(three_kernels());
  EXPECT_THAT(error_of_text(data.substr(0, data.size() / 2)),
              AllOf(HasSubstr("trace.json' cannot be decompressed at byte "),
                    HasSubstr("unexpected end of file")));
  data[data.size() / 2] = static_cast<char>(~data[data.size() / 2]);
  EXPECT_THAT(error_of_text(data), HasSubstr("cannot be decompressed at byte "));
}

/// One entry of an archive, written here.
std::string tar_entry(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  char octal[16];
  std::snprintf(octal, sizeof octal, "%011zo", content.size());
  put(0, name);
  put(124, octal);
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(148, octal);
  header[154] = '\0';
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

TEST(KinetoFiles, AnArchiveIsThatOfItsFiles) {
  const std::string zero = TraceText(R"("rank": 0)").kernel(7, 0, 5, 1).text();
  const std::string one = TraceText(R"("rank": 1)").kernel(7, 0, 5, 1).text();
  const std::string archive = tar_entry("a/._r0.json", "x") + tar_entry("a/r0.json", zero) +
                              tar_entry("a/README", "no trace") + tar_entry("a/r1.json", one);
  const TemporaryFile file(gzipped(archive + std::string(1024, '\0')), "traces.tar.gz");
  Record record;
  import_into(record, {{file.path(), std::nullopt}});
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].rank, 1U);
  EXPECT_EQ(record.ranks[1].source, file.path() + ":a/r1.json");
  EXPECT_THAT(error_of({{file.path(), 3}}), HasSubstr("has several traces"));
}

TEST(KinetoFiles, ADamagedArchiveIsNamed) {
  const std::string good = tar_entry("r0.json", three_kernels());
  EXPECT_THAT(error_of_text(tar_entry("r0.json", "[{\n{")),
              HasSubstr("the file 'r0.json' of the archive '"));
  EXPECT_THAT(error_of_text(tar_entry("r0.json", "[\n7")), HasSubstr("line 2 (byte 2)"));
  EXPECT_THAT(error_of_text(good.substr(0, good.size() - 300)),
              HasSubstr("ends in the middle of an entry"));
  EXPECT_THAT(error_of_text(good + std::string(512, 'x')), HasSubstr("header is damaged"));
  std::string bad = good;
  bad[3] = '?';
  EXPECT_THAT(error_of_text(bad), HasSubstr("header is damaged"));
  EXPECT_THAT(error_of_text(tar_entry("README", "")), HasSubstr("no entry with .json"));
}

TEST(KinetoFiles, WhatIsNoFileIsRefused) {
  EXPECT_THAT(error_of({{"/nowhere/trace.json", 0}}), HasSubstr("cannot be opened"));
  EXPECT_THAT(error_of({{"/", 0}}), HasSubstr("is no regular file"));
  EXPECT_THAT(error_of_text(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of_text("\x1f\x8b"), HasSubstr("trace.json"));
}

TEST(KinetoFiles, TimesMustBeNumbers) {
  for (const char* bad : {"NaN", "Infinity", "\"soon\"", "null", "[1]", "1e300", "{}"}) {
    const std::string text =
        TraceText().event("kernel", "odd", 7, "10", "1").event("kernel", "odd", 7, bad, "1").text();
    EXPECT_THAT(error_of_text(text),
                AllOf(HasSubstr("line 3 (byte "), HasSubstr("the event 'odd' has the time '")))
        << bad;
  }
  EXPECT_THAT(error_of_text(
                  TraceText().raw(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1})").text()),
              HasSubstr("the event 'k' has the duration ''"));
  EXPECT_THAT(error_of({{input_path("nan_duration.r1.json"), std::nullopt}}),
              AllOf(HasSubstr("nan_duration.r1.json', line 8 "),
                    HasSubstr("'sm90_xmma_gemm_f32f32_tf32f32' has the duration 'NaN'")));
}

TEST(KinetoFiles, TimesThatAreTooLargeAreToldSo) {
  for (const char* large : {"9223372036854775.807", "1e30"}) {
    EXPECT_THAT(error_of_text(TraceText().event("kernel", "odd", 7, large, "1").text()),
                HasSubstr("has the time '" + std::string(large) + "', which is too large"));
  }
}

TEST(KinetoFiles, AByteOrderMarkIsSkipped) {
  const TemporaryFile file("\xef\xbb\xbf" + three_kernels());
  Record record;
  import_into(record, {{file.path(), std::nullopt}});
  EXPECT_EQ(record.ranks.at(0).nodes.size(), 3U);
}

TEST(KinetoFiles, EventsThatAreNoJsonAreNamed) {
  EXPECT_THAT(error_of_text("[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", 7}]"),
              AllOf(HasSubstr("line 1 (byte 1)"), HasSubstr("no valid JSON")));
}

TEST(KinetoFiles, DistributedInfoMustFit) {
  EXPECT_THAT(error_of_text(TraceText(R"("rank": -1)").text()), HasSubstr("no whole number"));
  EXPECT_THAT(error_of_text(TraceText(R"("rank": 0, "world_size": 99999999999)").text()),
              HasSubstr("expected at most"));
  EXPECT_THAT(error_of_text("{\"baseTimeNanoseconds\": 1.5}"), HasSubstr("whole nanoseconds"));
}

}  // namespace
}  // namespace prism::kineto::testing
