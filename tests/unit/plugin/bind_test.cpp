// SPDX-License-Identifier: Apache-2.0
// What the host refuses in a plugin's tables.
#include "prism/host/bind.hpp"

#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "prism/host/sinks.hpp"
#include "prism/sdk/options.hpp"

namespace prism::host {
namespace {

using testing::HasSubstr;

const void* no_interface(prism_str_t) noexcept {
  return nullptr;
}

prism_plugin_t good() {
  prism_plugin_t table{};
  table.struct_size = sizeof table;
  table.abi_major = PRISM_ABI_MAJOR;
  table.abi_minor = PRISM_ABI_MINOR;
  table.id = {"zipf", 4};
  table.version = {"1.0.0", 5};
  table.get_interface = &no_interface;
  return table;
}

TEST(Bind, PluginTable) {
  prism_plugin_t table = good();
  EXPECT_EQ(check_plugin(&table, true), "");
  table.struct_size += 64;
  EXPECT_EQ(check_plugin(&table, true), "");
  table.reserved = 1;
  EXPECT_EQ(check_plugin(&table, false), "a reserved field of its table is not 0");
  table = good();
  table.pad = 1;
  EXPECT_EQ(check_plugin(&table, false), "a reserved field of its table is not 0");
  table = good();
  table.id = {"zip\xff", 4};
  EXPECT_THAT(check_plugin(&table, false), HasSubstr("its id is no UTF-8 text"));
  table.id = {nullptr, 4};
  EXPECT_THAT(check_plugin(&table, false), HasSubstr("its id is no UTF-8 text"));
  table.id = {"z", uint64_t{1} << 62};
  EXPECT_THAT(check_plugin(&table, false), HasSubstr("its id is no UTF-8 text"));
  table = good();
  table.version.len = 0;
  EXPECT_THAT(check_plugin(&table, false), HasSubstr("its version is no UTF-8 text"));
  table = good();
  table.get_interface = nullptr;
  EXPECT_EQ(check_plugin(&table, false), "its table has no get_interface");
}

TEST(Bind, TablesShorterThanTheFieldsAreNotRead) {
  // Only the 8 bytes that struct_size covers exist; a sanitizer sees any read beyond.
  const auto head = std::make_unique<uint32_t[]>(2);
  head[0] = 8;
  EXPECT_THAT(check_plugin(reinterpret_cast<const prism_plugin_t*>(head.get()), false),
              HasSubstr("its table has 8 bytes"));
  EXPECT_THAT(check_launcher(head.get()), HasSubstr("is of another draft (8 bytes"));
  EXPECT_THAT(check_runtime(head.get()), HasSubstr("is of another draft (8 bytes"));
}

TEST(Bind, DraftTablesMustBeComplete) {
  EXPECT_EQ(check_launcher(nullptr), "it has no prism.launcher/1");
  prism_launcher_t launcher{};
  launcher.struct_size = sizeof launcher;
  EXPECT_EQ(check_launcher(&launcher), "its prism.launcher/1 lacks the function open");
  launcher.reserved = 1;
  EXPECT_THAT(check_launcher(&launcher), HasSubstr("reserved"));
  prism_runtime_t runtime{};
  runtime.struct_size = sizeof runtime;
  EXPECT_EQ(check_runtime(&runtime), "its prism.runtime/1 lacks the function open");
  // Filled from the front, as a plugin of an earlier draft would be: something is always missing.
  const void* some_function = &runtime;
  for (size_t at = offsetof(prism_runtime_t, open); at < sizeof runtime; at += sizeof(void*)) {
    EXPECT_THAT(check_runtime(&runtime), HasSubstr("lacks the function"));
    std::memcpy(reinterpret_cast<char*>(&runtime) + at, &some_function, sizeof(void*));
  }
  EXPECT_EQ(check_runtime(&runtime), "");
  EXPECT_EQ(check_interface("com.example.x/1", nullptr), "it has no com.example.x/1");
  EXPECT_EQ(check_interface("com.example.x/1", &runtime), "");
}

TEST(Bind, FrozenTablesOfARouter) {
  prism_router_t router{};
  router.struct_size = sizeof(prism_router_t);
  EXPECT_EQ(check_router(&router), "its prism.router/1 lacks the function open");
  router.open = [](const prism_option_value_t*, uint64_t, prism_router_session_t**,
                   const prism_error_sink_t*) noexcept { return PRISM_STATUS_OK; };
  router.counts = [](prism_router_session_t*, const prism_routing_request_t*, uint64_t*,
                     const prism_error_sink_t*) noexcept { return PRISM_STATUS_OK; };
  router.close = [](prism_router_session_t*) noexcept {};
  EXPECT_EQ(check_router(&router), "");
  router.logits = [](prism_router_session_t*, const prism_routing_request_t*, const prism_tensor_t*,
                     const prism_error_sink_t*) noexcept { return PRISM_STATUS_OK; };
  EXPECT_THAT(check_router(&router), HasSubstr("has logits but no assign"));
  router.struct_size += 8;  // of a later minor
  EXPECT_THAT(check_router(&router), HasSubstr("has logits but no assign"));
  router.struct_size = PRISM_SIZE_THROUGH(prism_router_t, logits);
  EXPECT_THAT(check_router(&router), HasSubstr("has 64 bytes, the first version has 72"));
}

TEST(Bind, OptionTables) {
  static constexpr auto rows = sdk::options(sdk::integer("one", "First.").range(0, 5),
                                            sdk::text("two", "Second.").by_default("\"x\""));
  EXPECT_EQ(check_options(sdk::option_table(rows)), "");
  EXPECT_EQ(check_options({nullptr, 0, 0}), "");
  EXPECT_THAT(check_options({nullptr, 2, sizeof(prism_option_t)}), HasSubstr("cannot be right"));
  EXPECT_THAT(check_options({rows.data(), 2, 8}), HasSubstr("cannot be right"));
  EXPECT_THAT(check_options({rows.data(), uint64_t{1} << 40, sizeof(prism_option_t)}),
              HasSubstr("cannot be right"));
  auto bad = rows;
  bad[1].name = bad[0].name;
  EXPECT_EQ(check_options(sdk::option_table(bad)), "option 1 has the name of option 0");
  bad = rows;
  bad[0].type = 99;
  EXPECT_EQ(check_options(sdk::option_table(bad)), "option 0 has the unknown type 99");
  bad = rows;
  bad[1].choice_count = 3;
  EXPECT_THAT(check_options(sdk::option_table(bad)), HasSubstr("choices"));
}

TEST(Bind, LongerRowsOfALaterMinor) {
  struct LaterRow {
    prism_option_t known;
    uint64_t added;
  };
  static constexpr auto rows =
      sdk::options(sdk::integer("one", "First."), sdk::text("two", "Second."));
  const LaterRow later[] = {{rows[0], 1}, {rows[1], 2}};
  const prism_option_table_t table = {&later[0].known, 2, sizeof(LaterRow)};
  EXPECT_EQ(check_options(table), "");
  EXPECT_EQ(sdk::view(option_row(table, 1).name), "two");
}

TEST(Text, Utf8) {
  const auto valid = [](std::string_view s) { return valid_text({s.data(), s.size()}, 100); };
  EXPECT_TRUE(valid(""));
  EXPECT_TRUE(valid("z\xc3\xa4hl \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf0\x80\x80\xaf", "\xe2\x82", "\xff"}) {
    EXPECT_FALSE(valid(bad)) << bad;
    EXPECT_TRUE(valid(clean_text({bad, std::char_traits<char>::length(bad)})));
  }
  EXPECT_FALSE(valid_text({"abc", 3}, 2));
}

TEST(Sinks, CollectAndBound) {
  const TextSink sink;
  const std::string piece(kMaxText / 2, 'x');
  for (int i = 0; i < 10; ++i) {
    sink.c()->write(sink.c()->ctx, {piece.data(), piece.size()});
  }
  EXPECT_LE(sink.text().size(), 2 * kMaxText);
  const ErrorSink error;
  EXPECT_EQ(error.message(13), "failed with status INTERNAL and no message");
}

}  // namespace
}  // namespace prism::host
