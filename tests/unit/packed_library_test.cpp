// Libraries as bytes: what they hold, and bytes that are none.
#include "metalloid/packed_library.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "metalloid/dispatch.h"
#include "metalloid/error.h"

namespace metalloid {
namespace {

namespace fs = std::filesystem;

class PackedLibraries : public testing::Test {
 protected:
  PackedLibraries() {
    std::string pattern = (fs::temp_directory_path() / "packed-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder_ / "inner");
    write("inner/amount.h", "constant float amount = AMOUNT;\n");
    write("add.metal",
          "#include <metal_stdlib>\n#include \"inner/amount.h\"\n#if __has_include(\"absent.h\")\n#error\n#endif\n"
          "kernel void add(device float* x) { x[0] += amount; }\n");
  }
  ~PackedLibraries() override { fs::remove_all(folder_); }

  void write(const char* name, std::string_view text) const { std::ofstream(folder_ / name) << text; }
  Library add() const {
    CompileOptions options;
    options.definitions.emplace_back("AMOUNT", "3");
    return Device::cpu().load_library(folder_ / "add.metal", options);
  }
  static float run(const Library& library) {
    float value = 4;
    Dispatch dispatch;
    dispatch.buffer(0, Buffer::wrap(std::span(&value, 1))).threads({1}, {1});
    metalloid::run(library.kernel("add"), dispatch);
    return value;
  }

  fs::path folder_;
};

std::string reason(std::string_view bytes) {
  try {
    (void)unpack(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_output);
    return error.what();
  }
  return {};
}

TEST_F(PackedLibraries, NeedNoFilesAndTakeNoOthers) {
  const std::string bytes = pack(add());
  EXPECT_EQ(included_files_of(add()), std::vector<std::string>{(folder_ / "inner/amount.h").string()});
  write("inner/amount.h", "#error this is another\n");
  write("absent.h", "");
  const auto libraries = unpack(bytes);
  ASSERT_EQ(libraries.size(), 1U);
  EXPECT_EQ(libraries[0].kernel_names(), std::vector<std::string>{"add"});
  EXPECT_EQ(run(libraries[0].load(Device::cpu())), 7.0F);
  fs::remove_all(folder_);
  EXPECT_EQ(run(unpack(bytes)[0].load(Device::named("reference"))), 7.0F);
}

TEST_F(PackedLibraries, AreJoined) {
  auto all = unpack(pack(add()));
  all.push_back(unpack(pack(Device::cpu().make_library("kernel void other(device int* x) { x[0] = 1; }")))[0]);
  const auto joined = unpack(pack(all));
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[1].kernel_names(), std::vector<std::string>{"other"});
  EXPECT_EQ(run(joined[0].load(Device::cpu())), 7.0F);
}

TEST_F(PackedLibraries, AreNotMadeOfFilesThatHaveChanged) {
  const Library library = add();
  write("inner/amount.h", "constant float amount = 5;\n");
  EXPECT_THROW((void)pack(library), Error);
}

TEST_F(PackedLibraries, DamageIsFound) {
  const std::string bytes = pack(add());
  EXPECT_EQ(bytes.substr(0, 4), "MTLB");
  EXPECT_EQ(bytes.substr(bytes.size() - 4), "ENDT");
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_NE(reason(bytes.substr(0, size)), "") << size;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(~changed[place]);
    (void)reason(changed);  // refused, or another library
  }
  EXPECT_NE(reason("kernel void f() {}").find("no Metal library"), std::string::npos);
}

}  // namespace
}  // namespace metalloid
