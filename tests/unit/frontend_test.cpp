// The front end alone: what it says of a library, and its errors.

#include "runtime/compile/compile_jobs.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/assemble.h"

namespace metalloid {
namespace frontend_test {

LibraryInfo compile_info(std::string_view source, const CompileOptions& options = {}) {
  return runtime::compile_library(source, options, {}).library.info;
}

std::string compile_error(std::string_view source, const CompileOptions& options = {}) {
  try {
    runtime::compile_library(source, options, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error);
    return error.what();
  }
  return "(compiled)";
}

TEST(Frontend, ReflectsBuffersInOrder) {
  const LibraryInfo info = compile_info(
      "kernel void f(device float* y, const device half4* x [[buffer(0)]], constant uint& n,\n"
      "              uint2 i [[thread_position_in_grid]]) { y[i.x] = x[n].x; }");
  ASSERT_EQ(info.kernels.size(), 1u);
  const auto& arguments = info.kernels[0].arguments;
  ASSERT_EQ(arguments.size(), 4u);
  EXPECT_EQ(arguments[0].index, 1u);  // the first free one
  EXPECT_EQ(arguments[0].access, Access::read_write);
  EXPECT_EQ(arguments[1].index, 0u);
  EXPECT_EQ(arguments[1].access, Access::read);
  EXPECT_EQ(arguments[1].type.name, "half4");
  EXPECT_EQ(arguments[1].type.rows, 4u);
  EXPECT_EQ(arguments[2].index, 2u);
  EXPECT_EQ(arguments[2].address_space, AddressSpace::constant);
  EXPECT_TRUE(arguments[2].is_reference);
  EXPECT_EQ(arguments[3].builtin, Builtin::thread_position_in_grid);
  EXPECT_EQ(arguments[3].type.rows, 2u);
}

TEST(Frontend, TakesTheThreeFormsOfExplicitInstantiation) {
  const LibraryInfo info = compile_info(R"(
    template <typename T> kernel void copy(device T* y, const device T* x, uint i [[thread_position_in_grid]]) {
      y[i] = x[i];
    }
    template [[host_name("copy_" "float")]] [[kernel]] decltype(copy<float>) copy<float>;
    template [[host_name("copy_half")]] kernel void copy<half>(device half* y, const device half* x, uint i);
    typedef decltype(copy<int>) copy_t;
    template [[host_name("copy_int")]] kernel copy_t copy<int>;
    template [[host_name("copy_int_again")]] kernel copy_t copy<int>;
  )");
  std::vector<std::string> names;
  for (const auto& kernel : info.kernels) names.push_back(kernel.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"copy_float", "copy_half", "copy_int", "copy_int_again"}));
}

TEST(Frontend, CodeIsOfFunctionsThatKernelsReach) {
  const std::string code = ir::disassemble(runtime::compile_library(R"(
    float unreached(float x) { return x + 1; }
    namespace deeper {
    float also_unreached(float x) { return unreached(x); }
    float reached(float x) { return x * 2; }
    float late(float x);
    }
    kernel void f(device float* x) { x[0] = deeper::reached(deeper::late(x[1])); }
    float deeper::late(float x) { return x - 1; }
  )",
                                                                    {}, {})
                                               .library.bitcode);
  EXPECT_NE(code.find("reached"), std::string::npos);
  EXPECT_NE(code.find("late"), std::string::npos);
  EXPECT_EQ(code.find("unreached"), std::string::npos) << code;
}

TEST(Frontend, ErrorsPointIntoTheSource) {
  const std::string log = compile_error("kernel void f(device float* x) {\n  x[0] = y;\n}\n");
  EXPECT_NE(log.find("program_source:2:10: error: use of undeclared identifier 'y'"), std::string::npos) << log;
  EXPECT_NE(log.find("x[0] = y;"), std::string::npos) << log;
}

TEST(Frontend, LinesMayHaveAnyNumber) {
  for (const char* number : {"2147483647", "4294967290", "4294967294", "4294967295"}) {
    for (const char* directive : {"#line ", "# "}) {
      const std::string text = std::string(directive) + number +
                               " \"here\"\nkernel [[ab]] void f(device float* x) {\n" +
                               "  x[0] = y +\n  z;\n}\nkernel void [[ab]] g() {}\n";
      const std::string log = compile_error(text);
      EXPECT_NE(log.find("error: use of undeclared identifier 'y'"), std::string::npos) << log;
      EXPECT_LT(log.size(), 10000u);
    }
  }
}

TEST(Frontend, SpeaksMetalsWordsForAddressSpaces) {
  const std::string log = compile_error("void g(threadgroup float* x);\nkernel void f(device float* x) { g(x); }\n");
  EXPECT_NE(log.find("device float"), std::string::npos) << log;
  EXPECT_EQ(log.find("__global"), std::string::npos) << log;
}

TEST(Frontend, RejectsWhatMetalRejects) {
  EXPECT_NE(compile_error("int counter;").find("must reside in constant address space"), std::string::npos);
  EXPECT_NE(compile_error("kernel int f() { return 1; }").find("void"), std::string::npos);
  EXPECT_NE(compile_error("kernel void f(device int* a [[buffer(1)]], device int* b [[buffer(1)]]) {}")
                .find("cannot reserve 'buffer' resource location at index 1"),
            std::string::npos);
  EXPECT_NE(compile_error("kernel void f(device int* a [[buffer(31)]]) {}").find("between 0 and 30"),
            std::string::npos);
  EXPECT_NE(compile_error("kernel void f(float i [[thread_position_in_grid]]) {}").find("is not valid for attribute"),
            std::string::npos);
  EXPECT_NE(compile_error("kernel void f(uint i) {}").find("needs an attribute"), std::string::npos);
}

TEST(Frontend, NamesGraphicsFunctionsAsUnsupported) {
  const LibraryInfo info = compile_info("vertex float4 v(uint i [[vertex_id]]) { return float4(0); }");
  ASSERT_EQ(info.unsupported.size(), 1u);
  EXPECT_EQ(info.unsupported[0].name, "v");
}

TEST(Frontend, CountsThreadgroupMemoryOfNestedScopes) {
  const LibraryInfo info = compile_info(R"(
    template <int N> kernel void f(device float* x, uint i [[thread_position_in_grid]]) {
      threadgroup float a[N];
      { threadgroup float4 b[2]; b[0] = float4(x[i]); a[i] = b[0].y; }
      x[i] = a[i];
    }
    template [[host_name("f8")]] kernel decltype(f<8>) f<8>;
  )");
  ASSERT_EQ(info.kernels.size(), 1u);
  EXPECT_EQ(info.kernels[0].static_threadgroup_memory, 64u);
}

TEST(Frontend, FollowsFunctionConstantsThroughDerivedOnes) {
  const LibraryInfo info = compile_info(R"(
    constant bool has_bias [[function_constant(3)]];
    constant int mode [[function_constant(1)]];
    constant bool both = has_bias && mode == 2;
    kernel void f(device float* y, constant float* bias [[buffer(1), function_constant(both)]]) {
      if (both) y[0] = bias[0];
    }
    kernel void g(device float* y) { y[0] = 1; }
  )");
  ASSERT_EQ(info.function_constants.size(), 2u);
  EXPECT_EQ(info.function_constants[0].index, 3u);
  ASSERT_EQ(info.kernels.size(), 2u);
  EXPECT_EQ(info.kernels[0].function_constants, (std::vector<std::string>{"has_bias", "mode"}));
  EXPECT_FALSE(info.kernels[0].arguments[1].gate.empty());
  EXPECT_TRUE(info.kernels[1].function_constants.empty());
}

TEST(Frontend, FollowsFunctionConstantsThroughMutualRecursion) {
  const LibraryInfo info = compile_info(R"(
    constant int a [[function_constant(0)]];
    constant int b [[function_constant(1)]];
    int odd(int n);
    int even(int n) { return n <= 0 ? a : odd(n - 1); }
    int odd(int n) { return n <= 0 ? b : even(n - 1); }
    kernel void f(device int* y) { y[0] = even(4); }
    kernel void g(device int* y) { y[0] = odd(4); }
  )");
  ASSERT_EQ(info.kernels.size(), 2u);
  EXPECT_EQ(info.kernels[0].function_constants, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(info.kernels[1].function_constants, (std::vector<std::string>{"a", "b"}));
}

TEST(Frontend, WarnsOfCommentsBeforeParsing) {
  EXPECT_EQ(compile_info("kernel void f() {}  //< not a Doxygen comment\n//! x\n").kernels.size(), 1u);
}

TEST(Frontend, IgnoresTheCompilersDebugPragmas) {
  for (const char* word : {"crash", "parser_crash", "assert", "llvm_fatal_error", "llvm_unreachable", "overflow_stack",
                           "handle_crash", "captured", "dump kernel", "diag_mapping", "macro int", "sloc_usage"}) {
    const LibraryInfo info = compile_info(std::string("#pragma clang __debug ") + word + "\nkernel void f() {}\n");
    EXPECT_EQ(info.kernels.size(), 1u) << word;
  }
}

TEST(Frontend, LanguageVersionAndDefinitionsReachTheSource) {
  CompileOptions options;
  options.language = {2, 4};
  options.definitions = {{"WIDTH", "7"}};
  const LibraryInfo info = compile_info(R"(
    #if __METAL_VERSION__ == 240 && WIDTH == 7
    kernel void right() {}
    #endif
  )",
                                        options);
  ASSERT_EQ(info.kernels.size(), 1u);
}

}  // namespace frontend_test
}  // namespace metalloid
