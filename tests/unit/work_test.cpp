// Counting what a kernel's code does.
#include "metalloid/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace work_test {

using ::testing::Optional;

Work work_in(const std::string& kernel, const FunctionConstants& constants = {}) {
  const Library library = Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + kernel);
  return work_of(library, "test", constants);
}

std::string uses(const Work& work) {
  std::string text;
  for (const Work::Use& use : work.arguments) {
    text += use.reads && use.writes ? 'b' : use.reads ? 'r' : use.writes ? 'w' : '-';
  }
  return text;
}

TEST(Work, KnowsWhatArgumentsAreReadAndWritten) {
  const std::string source = R"(
kernel void test(device float* written, device const float* read, device float* both, device float* unused,
                 device atomic_uint* counts, constant float& value, uint i [[thread_position_in_grid]]) {
  device float* moved = both + i;
  written[i] = read[i] * value;
  for (uint k = 0; k < i; ++k) *moved++ += 1.0f;
  atomic_fetch_add_explicit(counts, 1u, memory_order_relaxed);
})";
  EXPECT_EQ(uses(work_in(source)), "wrb-br-");
}

TEST(Work, CountsOperationsOfAThread) {
  auto flops = [](const std::string& body) {
    return work_in(
               "kernel void test(device float4* out, device const float* in, uint i [[thread_position_in_grid]]) {" +
               body + "}")
        .flops_per_thread;
  };
  EXPECT_THAT(flops("out[i].x = in[i] * in[i + 1] - in[i + 2];"), Optional(2));
  EXPECT_THAT(flops("out[i] = fma(float4(in[i]), float4(in[i + 1]), out[i]);"), Optional(8));
  EXPECT_THAT(flops("out[i].x = in[i];"), Optional(0));
  EXPECT_THAT(flops("float x = in[i]; for (uint k = 0; k < 100; ++k) x = x * x + 1.0f; out[i].x = x;"), Optional(200));
  EXPECT_THAT(
      flops("float x = in[i]; for (uint j = 0; j < 10; ++j) { for (uint k = 0; k < 10; ++k) x *= x; x += in[j]; } "
            "out[i].x = x;"),
      Optional(110));
  EXPECT_THAT(flops("float x = in[i]; for (uint k = 0; k < i; ++k) x *= x; out[i].x = x;"), std::nullopt)
      << "nobody knows how often";
  EXPECT_THAT(flops("uint sum = 0; for (uint k = 0; k < i; ++k) sum += k; out[i].x = in[sum] + 1.0f;"), Optional(1))
      << "turns without operations do not matter";
}

TEST(Work, CountsSimdgroupMatrices) {
  EXPECT_THAT(work_in(R"(
kernel void test(device float* c, device const float* a, device const float* b) {
  simdgroup_float8x8 left, right, sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  simdgroup_load(left, a);
  simdgroup_load(right, b);
  simdgroup_multiply_accumulate(sum, left, right, sum);
  simdgroup_store(sum, c);
})")
                  .flops_per_thread,
              Optional(32))
      << "8 x 8 x 8 multiply-adds by 32 lanes";
}

TEST(Work, TakesFunctionConstants) {
  const std::string source = R"(
constant uint turns [[function_constant(0)]];
kernel void test(device float* out) { float x = out[0]; for (uint k = 0; k < turns; ++k) x *= x; out[0] = x; })";
  EXPECT_THAT(work_in(source, FunctionConstants().set(0, std::int64_t{37})).flops_per_thread, Optional(37));
}

}  // namespace work_test
}  // namespace metalloid
