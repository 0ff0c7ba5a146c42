// What is true of the reference engine alone: it runs a kernel's threads in one of three ways, and stops them where a
// fault comes. What kernels compute, on any engine, is in tests/kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace reference_engine_test {

using ::testing::AllOf;
using ::testing::HasSubstr;

// `body` is of a function on(n, i), called with n = 3.
void crash_and_run_again(const std::string& body) {
  const std::string source = "#include <metal_stdlib>\nusing namespace metal;\nuint on(uint n, uint i) {\n" + body +
                             "}\nkernel void test(device uint* out, uint i [[thread_position_in_grid]]) {\n"
                             "  out[i] = on(3, i);\n}\n";
  const Kernel kernel = Device::named("reference").make_library(source).kernel("test");
  for (int repeat = 0; repeat < 20; ++repeat) {
    Buffer out(1024 * sizeof(std::uint32_t));
    try {
      run(kernel, Dispatch().buffer(0, out).threads({1024}, {64}));
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kernel_crashed);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("'test'"), HasSubstr("SIGSEGV"), HasSubstr("0x309"),
                                      HasSubstr("(12, 0, 0)"), HasSubstr("program_source:")));
    }
    run(kernel, Dispatch().buffer(0, out).threads({64}, {64}));
    EXPECT_NE(out.as<std::uint32_t>()[63], 0u);
  }
}

constexpr const char* fault = "  if (i == 777) *(device uint*)(ulong(i)) = 1;\n";

TEST(ReferenceEngine, LivesOnAfterCrashesInLoopsOverThreads) {
  crash_and_run_again(fault + std::string("  return i;\n"));
}

TEST(ReferenceEngine, LivesOnAfterCrashesInThreadsThatStop) {
  crash_and_run_again("  uint sum = simd_sum(i);\n" + std::string(fault) + "  return simd_sum(sum);\n");
}

TEST(ReferenceEngine, LivesOnAfterCrashesOnFibers) {
  crash_and_run_again("  if (n > 0) return on(n - 1, i) + 1;\n  uint sum = simd_sum(i);\n" + std::string(fault) +
                      "  return simd_sum(sum);\n");
}

}  // namespace reference_engine_test
}  // namespace metalloid
