// A Mac's arguments of Clang, and assembler sources.
#include "sdk/clang_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace metalloid::tool::sdk {
namespace {

const ClangPlaces places = {"/headers", "/frameworks", "/libraries"};

ClangArguments translated(std::vector<std::string> given, bool is_cpp = false) {
  return clang_arguments(std::move(given), is_cpp, places, [](const std::string&) { return std::string(); });
}

// Without what stands in front of all of them, and what links the SDK.
std::string own(std::vector<std::string> given) {
  std::string text = fmt::format("{}", fmt::join(translated(std::move(given)).arguments, " "));
  const std::string before = "-isystem /headers ", behind = " -L/libraries";
  text.erase(0, text.find(before) + before.size());
  return text.substr(0, text.find(behind));
}

TEST(ClangArguments, WhatMeansNothingHereIsDropped) {
  EXPECT_EQ(own({"-c", "-arch", "arm64", "a.m", "-isysroot", "/sdk", "-mmacosx-version-min=14.0", "-o", "a.o"}),
            "-c a.m -o a.o");
  EXPECT_EQ(own({"a.o", "-Wl,-dead_strip,-headerpad_max_install_names", "-Wl,-undefined,dynamic_lookup", "-ObjC"}),
            "a.o");
  EXPECT_EQ(own({"a.o", "-Xlinker", "-dead_strip", "-Xlinker", "-Map=a.map"}), "a.o -Xlinker -Map=a.map");
}

TEST(ClangArguments, WhatHasAnotherNameIsTranslated) {
  EXPECT_EQ(own({"-dynamiclib", "a.o", "-install_name", "@rpath/libx.dylib", "-o", "libx.dylib"}),
            "-shared a.o -Xlinker -soname -Xlinker libx.dylib -o libx.dylib");
  EXPECT_EQ(own({"a.o", "-Wl,-rpath,@loader_path/../lib"}), "a.o -Xlinker -rpath -Xlinker $ORIGIN/../lib");
  EXPECT_EQ(own({"a.o", "-force_load", "libx.a"}), "a.o -Xlinker --whole-archive libx.a -Xlinker --no-whole-archive");
  EXPECT_EQ(own({"-fobjc-arc", "-c", "a.m"}), "-fobjc-weak -fobjc-arc -c a.m");
  EXPECT_EQ(own({"a.o", "-weak-lz", "-lobjc", "-lm"}), "a.o -lz -lm");
}

TEST(ClangArguments, Frameworks) {
  const auto linked = [](const ClangArguments& all) { return fmt::format("{}", fmt::join(all.arguments, " ")); };
  const std::string with = linked(translated({"a.o", "-framework", "Metal", "-Wl,-weak_framework,Foundation"}));
  EXPECT_NE(with.find("-Xlinker --no-as-needed -lmetalloid_metal"), std::string::npos) << with;
  EXPECT_EQ(with.find("framework "), std::string::npos) << with;
  // What does not name one may still use blocks and queues.
  const std::string without = linked(translated({"a.o"}));
  EXPECT_NE(without.find("-Xlinker --as-needed -lmetalloid_metal"), std::string::npos) << without;
  const ClangArguments missing = translated({"a.o", "-framework", "AppKit"});
  EXPECT_EQ(missing.refusal.substr(0, 28), "framework 'AppKit' not found") << missing.refusal;
}

TEST(ClangArguments, NothingIsLinkedWhereNothingIsToBe) {
  for (const std::vector<std::string>& given : std::vector<std::vector<std::string>>{{"--version"},
                                                                                     {"-print-search-dirs"},
                                                                                     {"-c", "a.c"},
                                                                                     {"-E", "a.c"},
                                                                                     {"-fsyntax-only", "a.c"},
                                                                                     {"-o", "a"}}) {
    for (const std::string& one : translated(given).arguments) EXPECT_NE(one, "-lmetalloid_metal") << given[0];
  }
}

TEST(ClangArguments, TheLibraryOfCppIsTheUsersIfHeNamesOne) {
  const auto count = [](const std::vector<std::string>& given) {
    std::size_t libcpp = 0;
    for (const std::string& one : translated(given, true).arguments) libcpp += one == "-stdlib=libc++" ? 1 : 0;
    return libcpp;
  };
  EXPECT_EQ(count({"-c", "a.cpp"}), 1U);
  EXPECT_EQ(count({"-c", "a.cpp", "-stdlib=libstdc++"}), 0U);
}

TEST(ClangArguments, MessagesOfCppToNilAreCalls) {
  const auto has = [](bool is_cpp) {
    const std::vector<std::string> all = translated({"-c", "a"}, is_cpp).arguments;
    return std::find(all.begin(), all.end(), "-fno-delete-null-pointer-checks") != all.end();
  };
  EXPECT_TRUE(has(true));
  EXPECT_FALSE(has(false));
}

TEST(ClangArguments, MissingValuesEndNothing) {
  for (const char* option : {"-framework", "-arch", "-install_name", "-rpath", "-force_load", "-Xlinker", "-o", "-x"}) {
    EXPECT_NO_THROW((void)translated({"a.o", option})) << option;
  }
}

TEST(MacAssembly, SectionsAndSymbols) {
  EXPECT_EQ(assembly_for_linux(".section __DATA,__library\n.globl _library_start\n_library_start:\n.incbin \"_a_b\"\n"),
            "\t.section .__library,\"aw\"\n.globl library_start\nlibrary_start:\n.incbin \"_a_b\"\n");
  EXPECT_EQ(assembly_for_linux("\t.section __TEXT,__const\n__x: .quad _y - _z\n"),
            "\t.section .__const,\"a\"\n_x: .quad y - z\n");
  const std::string plain = ".text\n_start: ret\n";
  EXPECT_EQ(assembly_for_linux(plain), plain);
}

}  // namespace
}  // namespace metalloid::tool::sdk
