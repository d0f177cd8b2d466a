// SPDX-License-Identifier: Apache-2.0
// The tensor sources that come with Prism, as a rank binds them: through their real libraries.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "prism/host/library.hpp"
#include "prism/host/tensor_source.hpp"
#include "prism/sdk/tensor.hpp"

namespace prism::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

LibraryPlace place(const std::string& id) {
  const std::string path = std::string(PRISM_PLUGIN_ROOT) + "/" + id + "/libprism_" + id + ".so";
  return {id, path, library_hash(path)};
}

prism_option_value_t real(double value) {
  prism_option_value_t v{};
  v.type = PRISM_OPTION_FLOAT;
  v.set = 1;
  v.u.real = value;
  return v;
}
prism_option_value_t integer(int64_t value) {
  prism_option_value_t v{};
  v.type = PRISM_OPTION_INT;
  v.set = 1;
  v.u.integer = value;
  return v;
}
prism_option_value_t path(const std::string& text) {
  prism_option_value_t v{};
  v.type = PRISM_OPTION_PATH;
  v.set = 1;
  v.u.text = {text.data(), text.size()};
  return v;
}

prism_tensor_request_t request() {
  prism_tensor_request_t r{};
  r.struct_size = sizeof r;
  r.seed = 7;
  r.group = {"dp", 2};
  r.call = 3;
  r.rank = 1;
  r.peer = 0;
  r.kind = PRISM_COMM_RECV;
  return r;
}

/// A source with its library.
class Source {
 public:
  explicit Source(const std::string& id) : library_(place(id)) {}
  Source(const std::string& id, const std::vector<prism_option_value_t>& values) : Source(id) {
    const Outcome outcome = open(values);
    EXPECT_TRUE(outcome.ok()) << outcome.text;
  }

  Outcome open(const std::vector<prism_option_value_t>& values) {
    const void* table = nullptr;
    Outcome outcome = library_.open();
    if (outcome.ok()) {
      outcome = library_.interface(PRISM_TENSOR_SOURCE_1, table);
    }
    if (outcome.ok()) {
      source_.emplace(library_.name(), static_cast<const prism_tensor_source_t*>(table));
      outcome = source_->open(values);
    }
    return outcome;
  }

  /// The bytes of a tensor [elements]; the memory behind it stays as it was.
  std::string bytes(int32_t dtype, int64_t elements, const prism_tensor_request_t& r = request()) {
    const size_t size = sdk::element_size(dtype) * static_cast<size_t>(elements);
    std::string memory(size + 16, '\x5a');
    prism_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    tensor.data = memory.data();
    tensor.device_type = PRISM_DEVICE_CPU;
    tensor.dtype = dtype;
    tensor.ndim = 1;
    tensor.shape = &elements;
    outcome_ = source_->fill(r, tensor);
    EXPECT_EQ(memory.substr(size), std::string(16, '\x5a')) << "wrote behind the end";
    memory.resize(size);
    return memory;
  }
  template <typename T>
  std::vector<T> numbers(int32_t dtype, int64_t elements,
                         const prism_tensor_request_t& r = request()) {
    const std::string raw = bytes(dtype, elements, r);
    std::vector<T> values(raw.size() / sizeof(T));
    std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  }
  /// What fill() says; empty where it succeeds.
  std::string failure(int32_t dtype, int64_t elements) {
    bytes(dtype, elements);
    return outcome_.text;
  }

 private:
  Library library_;
  std::optional<TensorSource> source_;
  Outcome outcome_;  ///< of the last fill
};

std::string open_failure(const std::string& id, const std::vector<prism_option_value_t>& values) {
  return Source(id).open(values).text;
}

/// Every type, with the bytes of 1.
struct Type {
  int32_t dtype;
  std::string one;
};
std::vector<Type> types() {
  const auto text = [](std::initializer_list<int> bytes) {
    std::string out;
    for (const int byte : bytes) {
      out += static_cast<char>(byte);
    }
    return out;
  };
  return {{PRISM_DTYPE_U8, text({1})},
          {PRISM_DTYPE_I8, text({1})},
          {PRISM_DTYPE_I16, text({1, 0})},
          {PRISM_DTYPE_I32, text({1, 0, 0, 0})},
          {PRISM_DTYPE_I64, text({1, 0, 0, 0, 0, 0, 0, 0})},
          {PRISM_DTYPE_F16, text({0x00, 0x3c})},
          {PRISM_DTYPE_BF16, text({0x80, 0x3f})},
          {PRISM_DTYPE_F32, text({0, 0, 0x80, 0x3f})},
          {PRISM_DTYPE_F64, text({0, 0, 0, 0, 0, 0, 0xf0, 0x3f})},
          {PRISM_DTYPE_BOOL, text({1})},
          {PRISM_DTYPE_C64, text({0, 0, 0x80, 0x3f, 0, 0, 0, 0})},
          {PRISM_DTYPE_C128, text({0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0})},
          {PRISM_DTYPE_F8_E4M3, text({0x38})},
          {PRISM_DTYPE_F8_E5M2, text({0x3c})},
          {PRISM_DTYPE_U16, text({1, 0})},
          {PRISM_DTYPE_U32, text({1, 0, 0, 0})},
          {PRISM_DTYPE_U64, text({1, 0, 0, 0, 0, 0, 0, 0})}};
}

TEST(Zeros, EveryType) {
  Source zeros("zeros", {});
  for (const Type& type : types()) {
    const std::string bytes = zeros.bytes(type.dtype, 3);
    EXPECT_EQ(bytes, std::string(bytes.size(), '\0')) << sdk::dtype_name(type.dtype);
  }
  EXPECT_EQ(zeros.bytes(PRISM_DTYPE_F32, 0), "");
}

TEST(Constant, EveryType) {
  Source one("constant", {real(1)});
  for (const Type& type : types()) {
    EXPECT_EQ(one.bytes(type.dtype, 2), type.one + type.one) << sdk::dtype_name(type.dtype);
  }
}

TEST(Constant, RoundsToNearestEven) {
  const auto one = [](double value, int32_t dtype) {
    return Source("constant", {real(value)}).numbers<uint8_t>(dtype, 1).at(0);
  };
  const auto two = [](double value, int32_t dtype) {
    return Source("constant", {real(value)}).numbers<uint16_t>(dtype, 1).at(0);
  };
  EXPECT_EQ(two(1.0 / 3, PRISM_DTYPE_F16), 0x3555);
  EXPECT_EQ(two(-65504, PRISM_DTYPE_F16), 0xfbff);
  EXPECT_EQ(two(0x1p-24, PRISM_DTYPE_F16), 0x0001) << "the smallest subnormal number";
  EXPECT_EQ(two(0x1p-25, PRISM_DTYPE_F16), 0x0000) << "half of it is a tie: to even";
  EXPECT_EQ(two(0x1.8p-24, PRISM_DTYPE_F16), 0x0002);
  EXPECT_EQ(two(0x1.ffcp-15, PRISM_DTYPE_F16), 0x0400) << "up into the normal numbers";
  EXPECT_EQ(two(-0.0, PRISM_DTYPE_F16), 0x8000);
  EXPECT_EQ(two(3.14159265, PRISM_DTYPE_BF16), 0x4049);
  EXPECT_EQ(two(1 + 0x1p-8, PRISM_DTYPE_BF16), 0x3f80) << "a tie: to even";
  EXPECT_EQ(two(1 + 0x3p-8, PRISM_DTYPE_BF16), 0x3f82);
  EXPECT_EQ(one(448, PRISM_DTYPE_F8_E4M3), 0x7e);
  EXPECT_EQ(one(0x1p-9, PRISM_DTYPE_F8_E4M3), 0x01);
  EXPECT_EQ(one(-1.75, PRISM_DTYPE_F8_E5M2), 0xbf);
}

TEST(Constant, WholeNumbersToTheirBounds) {
  const auto of = [](double value, int32_t dtype) {
    return Source("constant", {real(value)}).bytes(dtype, 1);
  };
  EXPECT_EQ(of(-128, PRISM_DTYPE_I8), "\x80");
  EXPECT_EQ(of(-1, PRISM_DTYPE_I64), std::string(8, '\xff'));
  EXPECT_EQ(of(-0x1p63, PRISM_DTYPE_I64), std::string(7, '\0') + "\x80");
  EXPECT_EQ(of(0x1.fffffffffffffp63, PRISM_DTYPE_U64),
            std::string("\0\xf8", 2) + std::string(6, '\xff'));
  const auto refused = [](double value, int32_t dtype) {
    return Source("constant", {real(value)}).failure(dtype, 1);
  };
  EXPECT_EQ(
      refused(-1, PRISM_DTYPE_U8),
      "plugin 'constant' (libprism_constant.so 0.1.0): fill(): value = -1.0 does not fit into "
      "type 'u8', which goes from 0.0 to 255");
  EXPECT_THAT(refused(128, PRISM_DTYPE_I8), HasSubstr("from -128.0 to 127"));
  EXPECT_THAT(refused(0x1p63, PRISM_DTYPE_I64), HasSubstr("does not fit"));
  EXPECT_THAT(refused(2, PRISM_DTYPE_BOOL), HasSubstr("from 0.0 to 1"));
  EXPECT_THAT(refused(0.5, PRISM_DTYPE_I32),
              HasSubstr("value = 0.5 is no whole number, and the tensor is of type 'i32'"));
  EXPECT_THAT(refused(65536, PRISM_DTYPE_F16),
              HasSubstr("beyond what type 'f16' can hold, at most 65504.0"));
  EXPECT_THAT(refused(500, PRISM_DTYPE_F8_E4M3), HasSubstr("at most 448.0"));
}

TEST(Normal, MeanDeviationAndTails) {
  Source normal("normal", {real(3), real(0.5)});
  const std::vector<double> values = normal.numbers<double>(PRISM_DTYPE_F64, 200'000);
  double sum = 0;
  double squares = 0;
  double beyond_two = 0;
  for (const double value : values) {
    sum += value;
    squares += (value - 3) * (value - 3);
    beyond_two += std::fabs(value - 3) > 1.0 ? 1 : 0;
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 3, 0.006);  // five standard errors
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.004);
  EXPECT_NEAR(beyond_two / count, 0.0455, 0.0025);
}

// The same numbers in every build and on every machine.
TEST(Normal, KnownNumbers) {
  Source normal("normal", {real(0), real(1)});
  const auto values = normal.numbers<uint64_t>(PRISM_DTYPE_F64, 4);
  EXPECT_THAT(values, testing::ElementsAre(4590012218290615329U, 13826805775825950700U,
                                           4601799942385625515U, 4610043832797013474U));
}

TEST(Normal, DependsOnTheRequestAndNothingElse) {
  Source normal("normal", {real(0), real(1)});
  const auto values = [&](auto change) {
    prism_tensor_request_t r = request();
    change(r);
    return normal.bytes(PRISM_DTYPE_F32, 64, r);
  };
  const std::string first = values([](auto&) {});
  EXPECT_EQ(Source("normal", {real(0), real(1)}).bytes(PRISM_DTYPE_F32, 64), first);
  EXPECT_NE(values([](auto& r) { r.seed = 8; }), first);
  EXPECT_NE(values([](auto& r) { r.group = {"tp", 2}; }), first);
  EXPECT_NE(values([](auto& r) { r.call = 4; }), first);
  EXPECT_NE(values([](auto& r) { r.rank = 2; }), first);
  EXPECT_NE(values([](auto& r) { r.peer = 2; }), first);
  EXPECT_NE(values([](auto& r) { r.part = 1; }), first);
  // The result of an all-reduce is the same on all its ranks.
  const auto result = [&](uint32_t rank) {
    return values([rank](auto& r) {
      r.kind = PRISM_COMM_ALL_REDUCE;
      r.peer = -1;
      r.rank = rank;
    });
  };
  EXPECT_EQ(result(1), result(5));
}

TEST(Normal, OneStreamForAllTypes) {
  Source normal("normal", {real(0), real(1)});
  const auto wide = normal.numbers<double>(PRISM_DTYPE_F64, 8);
  const auto narrow = normal.numbers<float>(PRISM_DTYPE_F32, 8);
  const auto complex = normal.numbers<double>(PRISM_DTYPE_C128, 4);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(narrow[i], static_cast<float>(wide[i]));
    EXPECT_EQ(complex[i], wide[i]);
  }
  EXPECT_THAT(normal.failure(PRISM_DTYPE_I64, 4),
              HasSubstr("fill(): normal numbers need a floating type, and the tensor is of type "
                        "'i64'"));
}

TEST(Tokens, BelowTheVocabularyAndEven) {
  Source tokens("tokens", {integer(10)});
  std::vector<int> count(10);
  for (const int64_t token : tokens.numbers<int64_t>(PRISM_DTYPE_I64, 100'000)) {
    ASSERT_GE(token, 0);
    ASSERT_LT(token, 10);
    ++count[static_cast<size_t>(token)];
  }
  for (const int times : count) {
    EXPECT_NEAR(times, 10'000, 500);  // five standard deviations
  }
  EXPECT_EQ(Source("tokens", {integer(1)}).bytes(PRISM_DTYPE_I32, 2), std::string(8, '\0'));
}

TEST(Tokens, NeedATypeThatHoldsThem) {
  EXPECT_THAT(Source("tokens", {integer(50'257)}).failure(PRISM_DTYPE_I16, 1),
              HasSubstr("tokens of vocabulary = 50257 do not fit into type 'i16', which ends at "
                        "32767"));
  EXPECT_EQ(Source("tokens", {integer(256)}).bytes(PRISM_DTYPE_U8, 4).size(), 4U);
  for (const int32_t dtype : {PRISM_DTYPE_F32, PRISM_DTYPE_BOOL, PRISM_DTYPE_C64}) {
    EXPECT_THAT(Source("tokens", {integer(2)}).failure(dtype, 1),
                HasSubstr("match an integer dtype"));
  }
}

class FileSource : public testing::Test {
 protected:
  FileSource() { fs::create_directories(folder_); }
  ~FileSource() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) {
    std::string file = (folder_ / name).string();
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  /// A version 1 file as numpy.save writes it.
  static std::string npy(std::string dictionary, const std::string& data, int version = 1) {
    dictionary.resize((dictionary.size() + 10 + 64) / 64 * 64 - 11, ' ');
    dictionary += '\n';
    std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
    out += static_cast<char>(dictionary.size() & 0xff);
    out += static_cast<char>(dictionary.size() >> 8);
    if (version > 1) {
      out += std::string(2, '\0');
    }
    return out + dictionary + data;
  }
  static std::string dictionary(const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("prism_file_source_" + std::to_string(::getpid()));
};

TEST_F(FileSource, RawElements) {
  const std::string file = write("raw", "abcdefgh");
  EXPECT_EQ(Source("file", {path(file)}).bytes(PRISM_DTYPE_F32, 2), "abcdefgh");
  EXPECT_EQ(Source("file", {path(file)}).failure(PRISM_DTYPE_F32, 3),
            "plugin 'file' (libprism_file.so 0.1.0): fill(): the file '" + file +
                "' has 8 bytes, the tensor has 3 elements of type 'f32', 12 bytes");
  EXPECT_EQ(Source("file", {path(write("empty", ""))}).bytes(PRISM_DTYPE_F32, 0), "");
}

TEST_F(FileSource, Npy) {
  for (const int version : {1, 2, 3}) {
    const std::string file = write("a.npy", npy(dictionary("<i4", "(2, 1)"), "abcdefgh", version));
    EXPECT_EQ(Source("file", {path(file)}).bytes(PRISM_DTYPE_I32, 2), "abcdefgh") << version;
  }
  const std::string file = write("a.npy", npy(dictionary("<i4", "(2, 1)"), "abcdefgh"));
  EXPECT_THAT(Source("file", {path(file)}).failure(PRISM_DTYPE_F32, 2),
              HasSubstr("has 2 elements of type 'i32', the tensor has 2 elements of type 'f32'"));
  EXPECT_THAT(Source("file", {path(file)}).failure(PRISM_DTYPE_I32, 3),
              HasSubstr("has 2 elements of type 'i32', the tensor has 3 elements of type 'i32'"));
  EXPECT_EQ(Source("file", {path(write("b.npy", npy(dictionary("|b1", "()"), "\1")))})
                .bytes(PRISM_DTYPE_BOOL, 1),
            "\1");
}

TEST_F(FileSource, NpyThatCannotBeUsed) {
  const auto refused = [&](const std::string& content) {
    return open_failure("file", {path(write("bad.npy", content))});
  };
  EXPECT_THAT(refused(npy(dictionary(">f4", "(1,)"), "abcd")), HasSubstr("little-endian order"));
  EXPECT_THAT(refused(npy(dictionary("<U4", "(1,)"), "abcd")),
              HasSubstr("elements of type '<U4', which no tensor has"));
  EXPECT_THAT(refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")),
              HasSubstr("records and objects"));
  EXPECT_THAT(refused(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", "abcd")),
              HasSubstr("Fortran order"));
  EXPECT_THAT(refused(npy("{'descr': '<f4', 'shape': (1,)}", "abcd")),
              HasSubstr("has no 'fortran_order'"));
  EXPECT_THAT(refused(npy(dictionary("<f4", "(4611686018427387904, 4)"), "")),
              HasSubstr("has a 'shape' that cannot be right"));
  EXPECT_THAT(refused(npy(dictionary("<f4", "(-1,)"), "")), HasSubstr("cannot be right"));
  EXPECT_THAT(refused(npy(dictionary("<f4", "(1,"), "")), HasSubstr("'shape'"));
  EXPECT_THAT(refused(npy(dictionary("<f4", "(2,)"), "abcd")),
              HasSubstr("has 4 bytes behind its header, which speaks of 8"));
  EXPECT_THAT(refused(npy(dictionary("<f4", "(1,)"), "abcd", 9)), HasSubstr("of version 9"));
  EXPECT_THAT(refused(std::string("\x93NUMPY\1\0\xff\xff", 10)), HasSubstr("expected at most"));
  EXPECT_THAT(refused(std::string("\x93NUMPY\1\0\x40\0abc", 13)), HasSubstr("is cut off"));
}

// Whatever bytes a header has, the source opens it or says why not.
TEST_F(FileSource, EveryCutAndEveryChangedByte) {
  const std::string good = npy(dictionary("<i4", "(2, 1)"), "abcdefgh");
  for (size_t i = 0; i < good.size(); ++i) {
    open_failure("file", {path(write("cut.npy", good.substr(0, i)))});
    for (const char byte : {'\0', '\xff', '(', '\'', '9'}) {
      std::string changed = good;
      changed[i] = byte;
      open_failure("file", {path(write("changed.npy", changed))});
    }
  }
}

TEST_F(FileSource, NoSuchFile) {
  EXPECT_THAT(open_failure("file", {path((folder_ / "absent").string())}),
              HasSubstr("absent' cannot be opened: No such file or directory"));
  EXPECT_THAT(open_failure("file", {path(folder_.string())}), HasSubstr("is no regular file"));
}

// What a rank refuses to bind.
TEST(RankLibrary, AnotherFileThanTheOneThatWasChecked) {
  const auto refused = [](auto change) {
    LibraryPlace other = place("zeros");
    change(other);
    return Library(other).open().text;
  };
  EXPECT_THAT(refused([](auto& p) { p.hash[0] = p.hash[0] == '0' ? '1' : '0'; }),
              HasSubstr("is not the file that was checked when the run began"));
  EXPECT_THAT(refused([](auto& p) { p.id = "ones"; }),
              HasSubstr("the library says that its id is 'zeros'"));
  EXPECT_THAT(refused([](auto& p) { p.path = "libprism_zeros.so"; }),
              HasSubstr("is no absolute path"));
  EXPECT_THAT(refused([](auto& p) {
                p.path = "/proc/self/exe";
                p.hash = library_hash(p.path);
              }),
              HasSubstr("cannot be used inside this rank"));
}

TEST(RankLibrary, InterfaceThatItLacks) {
  Library library(place("zeros"));
  ASSERT_TRUE(library.open().ok());
  const void* table = nullptr;
  EXPECT_EQ(library.interface("prism.router/1", table).text,
            "plugin 'zeros' (libprism_zeros.so 0.1.0) cannot be used inside this rank: it has "
            "no prism.router/1");
}

}  // namespace
}  // namespace prism::host
