// SPDX-License-Identifier: Apache-2.0
// The plugin as the host sees it, through its library.
#include <gtest/gtest.h>

#include "prism/host/library.hpp"
#include "tests/plugins/kineto/trace_text.hpp"

namespace prism::kineto::testing {
namespace {

prism_option_value_t clock_option(std::string_view name) {
  prism_option_value_t value{};
  value.type = PRISM_OPTION_STRING;
  value.set = 1;
  value.u.text = sdk::to_c(name);
  return value;
}

TEST(KinetoPlugin, RecognisesAndImportsThroughItsTable) {
  const std::string path = std::string(PRISM_PLUGIN_ROOT) + "/kineto/libprism_kineto.so";
  host::Library library({"kineto", path, host::library_hash(path)});
  const void* table = nullptr;
  ASSERT_TRUE(library.open().ok());
  ASSERT_TRUE(library.interface(PRISM_FORMAT_1, table).ok());
  const auto& format = *static_cast<const prism_format_t*>(table);
  EXPECT_EQ(format.export_trace, nullptr);

  const prism_option_value_t values[] = {clock_option("shared")};
  prism_format_session_t* session = nullptr;
  ASSERT_EQ(format.open(values, 1, &session, nullptr), PRISM_STATUS_OK);
  const std::string text = TraceText().kernel(7, 1, 1, 1).text();
  const TemporaryFile good(text);
  const auto known = [&](const std::string& file) {
    return format.recognises(session, sdk::to_c(file));
  };
  EXPECT_EQ(known(good.path()), 1);
  EXPECT_EQ(known(TemporaryFile("\xef\xbb\xbf" + text).path()), 1);
  EXPECT_EQ(known(TemporaryFile("[1, 2]").path()), 0);
  EXPECT_EQ(known(TemporaryFile("").path()), 0);
  EXPECT_EQ(known(good.path() + ".not"), 0);

  const TemporaryFile cut(text.substr(0, text.size() - 9));
  for (const auto& [file, status] :
       {std::pair(&good, PRISM_STATUS_OK), std::pair(&cut, PRISM_STATUS_DATA_LOSS)}) {
    Record record;
    prism_trace_input_t input{sizeof input, PRISM_UNKNOWN_RANK, sdk::to_c(file->path())};
    EXPECT_EQ(format.import_trace(session, &input, 1, &record.c(), nullptr), status);
    EXPECT_EQ(record.ranks.size(), status == PRISM_STATUS_OK ? 1U : 0U);
  }
  format.close(session);
}

}  // namespace
}  // namespace prism::kineto::testing
