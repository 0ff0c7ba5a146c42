// .npy files: what is written reads back, and what cannot be read is explained.
#include "npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "files.h"
#include "metalloid/error.h"

namespace metalloid::tool {
namespace npy_test {

class Npy : public testing::Test {
 protected:
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / fmt::format("metalloid-{}.npy", getpid());

  ~Npy() override { std::filesystem::remove(file_); }

  void write(const std::string& header, std::size_t data_bytes, char version = 1) {
    std::ofstream stream(file_, std::ios::binary);
    stream << "\x93NUMPY" << version << '\0' << static_cast<char>(header.size()) << '\0';
    if (version > 1) stream << '\0' << '\0';
    stream << header << std::string(data_bytes, '\1');
  }

  std::string refusal() {
    try {
      read_npy(file_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input_output);
      EXPECT_NE(std::string(error.what()).find(file_.string()), std::string::npos) << "names the file";
      return error.what();
    }
    return "";
  }
};

TEST_F(Npy, EveryKindReadsBack) {
  for (const char* name : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32"}) {
    Array array = make_array(*parse_kind(name), {2, 3});
    for (std::size_t i = 0; i < 6; ++i) set_element(array, i, static_cast<std::int64_t>(i));
    write_npy(file_, array);
    const Array back = read_npy(file_);
    EXPECT_EQ(back.kind, array.kind) << name;
    EXPECT_EQ(back.shape, array.shape) << name;
    EXPECT_EQ(back.bytes, array.bytes) << name;
  }
}

TEST_F(Npy, ScalarsAndEmptyArraysReadBack) {
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{}, {0}, {3, 0, 2}, {7}}) {
    write_npy(file_, make_array(ElementType::float32, shape));
    EXPECT_EQ(read_npy(file_).shape, shape);
  }
}

TEST_F(Npy, VersionsTwoAndThree) {
  for (char version : {2, 3}) {
    write("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", 8, version);
    EXPECT_EQ(read_npy(file_).shape, std::vector<std::size_t>{2});
  }
}

TEST_F(Npy, StructuredAndVoidTypesAreBytesAndComplexOnesPairs) {
  write("{'descr': [('shape', '<f4'), ('b', '|u1', (3,))], 'fortran_order': False, 'shape': (2, 1), }", 14);
  EXPECT_EQ(read_npy(file_).kind, ElementType::uint8);
  EXPECT_EQ(read_npy(file_).shape, (std::vector<std::size_t>{2, 1, 7}));
  write("{'descr': '|V5', 'fortran_order': False, 'shape': (), }", 5);
  EXPECT_EQ(read_npy(file_).shape, std::vector<std::size_t>{5});
  write("{'descr': '|V5', 'fortran_order': False, 'shape': (0,), }", 0);
  EXPECT_EQ(read_npy(file_).element_count(), 0U);
  write("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", 24);
  EXPECT_EQ(read_npy(file_).kind, ElementType::float32);
  EXPECT_EQ(read_npy(file_).shape, (std::vector<std::size_t>{3, 2}));
}

TEST_F(Npy, UnreadableFilesAreExplained) {
  EXPECT_NE(refusal().find("cannot be read"), std::string::npos);
  std::ofstream(file_) << "hello, this is text";
  EXPECT_NE(refusal().find("is not a .npy file"), std::string::npos);
  std::ofstream(file_) << "\x93NUMPY";
  EXPECT_NE(refusal().find("is not a .npy file"), std::string::npos);
  write("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8);
  EXPECT_NE(refusal().find("big-endian"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16);
  EXPECT_NE(refusal().find("Fortran order"), std::string::npos);
  write("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 16);
  EXPECT_NE(refusal().find("64-bit floats"), std::string::npos);
  write("{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", 32);
  EXPECT_NE(refusal().find("'<c16' is not supported"), std::string::npos);
  write("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 7);
  EXPECT_NE(refusal().find("is cut off"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", 8);
  EXPECT_NE(refusal().find("is cut off"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8);
  EXPECT_NE(refusal().find("implausibly large"), std::string::npos);
  write("{'descr': '<f4', 'shape': (2,), }", 8);
  EXPECT_NE(refusal().find("'fortran_order'"), std::string::npos);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8, 9);
  EXPECT_NE(refusal().find("version 9"), std::string::npos);
}

TEST_F(Npy, TheSizeOfAnElementFollowsFromItsType) {
  write(
      "{'descr': [('a', [('b', '<f8', (2, 3)), ('', '|V2')]), ('c', '<U3')], 'fortran_order': False, 'shape': (2,), }",
      2 * 62 + 5);
  EXPECT_EQ(read_npy(file_).shape, (std::vector<std::size_t>{2, 62}));
  write("{'descr': '|V5', 'fortran_order': False, 'shape': (2,), }", 14);
  EXPECT_EQ(read_npy(file_).shape, (std::vector<std::size_t>{2, 5}));
}

TEST_F(Npy, HeadersAreReadAsLiterals) {
  const std::pair<const char*, const char*> headers[] = {
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "Python objects"},
      {"{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (2,), }", "Python objects"},
      {"{'descr': [('a', '>f4')], 'fortran_order': False, 'shape': (2,), }", "big-endian"},
      {"{'descr': 'xf4', 'fortran_order': False, 'shape': (2,), }", "'xf4' is not known"},
      {"{'descr': '<f-4', 'fortran_order': False, 'shape': (2,), }", "is not known"},
      {"{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", "'<U5' is not supported"},
      {"{'descr': '<f4', 'fortran_order': 'False', 'shape': (2,), }", "valid 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 1), }", "comma"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "negative"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", "valid 'shape'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "implausibly large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), ", "Python literal"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } and more", "goes on"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,), }", "Python literal"},
      {"(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", "too deeply"},
      {"", "Python literal"},
  };
  for (const auto& [header, reason] : headers) {
    write(header, 16);
    EXPECT_NE(refusal().find(reason), std::string::npos) << header << '\n' << refusal();
  }
}

TEST_F(Npy, ManyDimensionsAreRefused) {
  std::string shape;
  for (int i = 0; i < 65; ++i) shape += "1,";
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape.substr(2) + "), }", 4);
  EXPECT_EQ(read_npy(file_).shape.size(), 64U);
  write("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }", 4);
  EXPECT_NE(refusal().find("65 dimensions"), std::string::npos);
}

TEST_F(Npy, OnlyFilesAreRead) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_NE(refusal().find("it is a pipe"), std::string::npos) << refusal();
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_NE(refusal().find("it is a folder"), std::string::npos) << refusal();
}

TEST_F(Npy, AFileIsWrittenWholeOrStays) {
  write_npy(file_, make_array(ElementType::float32, {3}));
  {
    OutputFile unfinished(file_);
    unfinished.write("no array");
  }
  EXPECT_EQ(read_npy(file_).shape, std::vector<std::size_t>{3});
  std::filesystem::permissions(file_, std::filesystem::perms{0640});
  write_npy(file_, make_array(ElementType::float32, {5}));
  EXPECT_EQ(read_npy(file_).shape, std::vector<std::size_t>{5});
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms{0640});
}

}  // namespace npy_test
}  // namespace metalloid::tool
