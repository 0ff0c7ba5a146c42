// Macros of a source do not reach the headers of the standard library, whatever they are called, and are back after
// them.

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "runtime/compile/compile_jobs.h"
#include "stdlib/headers.h"

namespace metalloid {
namespace user_macros_test {

std::string log_of(const std::string& source, const CompileOptions& options) {
  try {
    return runtime::compile_library(source, options).library.warnings;
  } catch (const Error& error) {
    return error.what();
  }
}

CompileOptions metal4() {
  CompileOptions options;
  options.language = {4, 0};
  return options;
}

// Every word of every header, but those that cannot be macros or are asked for on purpose.
std::set<std::string> words_of_headers() {
  std::set<std::string> words;
  for (const auto& header : stdlib::headers()) {
    std::string word;
    for (const char c : header.text) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
        continue;
      }
      if (!word.empty() && !std::isdigit(static_cast<unsigned char>(word[0]))) words.insert(word);
      word.clear();
    }
  }
  // Macros of the compiler, which it does not like to lose.
  std::erase_if(words, [](const std::string& word) { return word.starts_with("__") && word.ends_with("__"); });
  words.insert("__attribute__");
  for (const char* word : {"defined", "_Pragma", "__has_include", "and", "or", "not", "xor", "bitand", "bitor", "compl",
                           "and_eq", "or_eq", "not_eq", "xor_eq"}) {
    words.erase(word);
  }
  return words;
}

TEST(UserMacros, OfEveryNameDoNotReachAnyHeader) {
  std::string definitions, undefinitions;
  for (const std::string& word : words_of_headers()) {
    definitions += "#undef " + word + "\n#define " + word + " ) } ] :: ( {\n";
    undefinitions += "#undef " + word + "\n";
  }
  std::string includes;
  for (const auto& header : stdlib::headers()) {
    // A part of its neighbour, which defines what it needs.
    if (header.name == "metalloid/elementwise_binary_family.h") continue;
    includes += "#include <" + std::string(header.name) + ">\n";
  }
  // Some headers are written for sources that say so, as Metal's samples do.
  EXPECT_EQ(log_of("using namespace metal;\n" + definitions + includes + undefinitions +
                       "kernel void f(device int* x) { x[0] = 1; }",
                   metal4()),
            "");
}

TEST(UserMacros, MayLookLikeFunctions) {
  EXPECT_EQ(log_of("#define min(a, b) (a\n#define max(...)\n#define half(x) #x\n#define T() {\n"
                   "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
                   "#include <c10/metal/reduction_utils.h>\n"
                   "#undef min\n#undef max\n#undef half\n#undef T\n"
                   "kernel void f(device float* x) { x[0] = metal::min(x[1], x[2]); }",
                   metal4()),
            "");
}

TEST(UserMacros, OfTheCommandLineDoNotReachThem) {
  CompileOptions options = metal4();
  options.definitions = {{"T", "float"}, {"N", "4"}, {"size", "16"}, {"value", "x"}, {"type", "int"}, {"K", "2"}};
  EXPECT_EQ(log_of("#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
                   "#include <c10/metal/utils.h>\n#include <metalloid/mlx_utils.h>\n"
                   "kernel void f(device T* value) { value[N] = size + K; }",
                   options),
            "");
}

TEST(UserMacros, AreBackAfterwards) {
  const char* header = "#include <c10/metal/utils.h>\n";
  const auto compile = [&](const std::string& before, const std::string& after) {
    return log_of(before + header + after, metal4());
  };
  EXPECT_EQ(compile("#define T 5\n#define max(a) a + 1\n", "static_assert(T == 5 && max(1) == 2, \"\");\n"), "");
  // Redefined, undefined, pushed and popped after it.
  EXPECT_EQ(compile("#define T 5\n", "#undef T\n#define T 6\nstatic_assert(T == 6, \"\");\n"), "");
  EXPECT_EQ(compile("#define T 5\n", "#undef T\n#ifdef T\n#error T\n#endif\n"), "");
  EXPECT_EQ(compile("#define T 5\n#pragma push_macro(\"T\")\n#undef T\n#define T 7\n",
                    "static_assert(T == 7, \"\");\n#pragma pop_macro(\"T\")\nstatic_assert(T == 5, \"\");\n"),
            "");
  EXPECT_EQ(compile("#define T 5\n#undef T\n", "#ifdef T\n#error T\n#endif\n"), "");
  // A macro of the same words is no redefinition, one of others is.
  EXPECT_EQ(compile("#define T 5\n", "#define T 5\n"), "");
  EXPECT_NE(compile("#define T 5\n", "#define T 6\n"), "");
}

TEST(UserMacros, HeadersLeaveTheirsBehind) {
  const std::string use = "#ifndef METAL_FUNC\n#error METAL_FUNC\n#endif\n#ifndef assert\n#error assert\n#endif\n";
  EXPECT_EQ(log_of("#include <metal_assert>\n" + use, {}), "");
  EXPECT_EQ(log_of("#undef assert\n#define assert(x) 7\n#include <metal_assert>\n#include <c10/metal/error.h>\n"
                   "static_assert(assert(1) == 7, \"\");\n",
                   {}),
            "");
}

TEST(UserMacros, AreSeenByHeadersOfTheUser) {
  CompileOptions options;
  options.headers["mine.h"] = "#ifndef T\n#error T\n#endif\n#include <c10/metal/utils.h>\nconstant T value = 1;\n";
  EXPECT_EQ(log_of("#define T int\n#include \"mine.h\"\nkernel void f(device T* x) { x[0] = value; }", options), "");
  // Also where a header of the library includes one that the user put in the place of another.
  options.headers["c10/metal/common.h"] = "#ifndef T\n#error T\n#endif\n";
  EXPECT_EQ(log_of("#define T int\n#include <c10/metal/error.h>\n", options).find("error: T"), std::string::npos);
}

}  // namespace user_macros_test
}  // namespace metalloid
