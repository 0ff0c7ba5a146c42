// Rows of 32 lanes that wrap and that the SIMD engine cannot follow: never something wrong, but an error that says so.
// What it can is in tests/kernels/wrapped_rows.metal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace wrapped_rows_test {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint32_t count = 32, taking_part = 16;

// Threads in front of where the index wraps come back into memory by what is taken off with 64 bits.
constexpr const char* source = R"(
kernel void beyond(device uint* out, device const uint* in, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (i < 16) out[i] = in[ulong(i + n) - n];
}
)";

std::string run_on(const char* device, std::uint32_t n, std::span<std::uint32_t> out) {
  Buffer result(count * sizeof(std::uint32_t)), in(count * sizeof(std::uint32_t));
  std::iota(in.as<std::uint32_t>().begin(), in.as<std::uint32_t>().end(), 100u);
  const Kernel kernel = Device::named(device).make_library(source).kernel("beyond");
  try {
    run(kernel, Dispatch().buffer(0, result).buffer(1, in).value(2, n).threads({count}, {count}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    return error.what();
  }
  std::ranges::copy(result.as<std::uint32_t>().first(taking_part), out.begin());
  return "";
}

TEST(WrappedRows, ThatCannotBeFollowedAreAnError) {
  std::uint32_t out[taking_part] = {};
  EXPECT_THAT(run_on("cpu", 0xfffffff0, out),
              AllOf(HasSubstr("kernel 'beyond' reads argument 'in' (buffer 1) at "),
                    HasSubstr(":3 by an index of 32 bits that wraps around between threads of one simdgroup, "
                              "thread (0, 0, 0): use an index of 64 bits, or device 'reference'")));
}

TEST(WrappedRows, AreNoConcernOfTheReferenceEngine) {
  std::uint32_t out[taking_part] = {};
  EXPECT_EQ(run_on("reference", 0xfffffff0, out), "");
  for (std::uint32_t i = 0; i < taking_part; ++i) EXPECT_EQ(out[i], 100 + i);
}

TEST(WrappedRows, ThatDoNotWrapAreRows) {
  std::uint32_t out[taking_part] = {};
  EXPECT_EQ(run_on("cpu", 0xffffffe0, out), "");
  for (std::uint32_t i = 0; i < taking_part; ++i) EXPECT_EQ(out[i], 100 + i);
}

}  // namespace wrapped_rows_test
}  // namespace metalloid
