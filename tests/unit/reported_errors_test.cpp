// Errors that kernels report themselves.
#include "metalloid/reported_errors.h"

#include <gtest/gtest.h>

#include <string>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace reported_errors_test {

void run_check(std::uint32_t threads) {
  static const Kernel kernel = Device::cpu()
                                   .make_library(R"(
#include <c10/metal/error.h>
kernel void check(device c10::metal::ErrorMessages* errors, uint i [[thread_position_in_grid]]) {
  if (i > 1) TORCH_REPORT_ERROR(errors, "Index ", i, " exceeds limit ", 1);
})")
                                   .kernel("check");
  run(kernel, Dispatch().buffer(0, error_buffer()).threads({threads}, {threads}));
}

TEST(ReportedErrors, AreThrownOnce) {
  synchronize();
  run_check(2);
  synchronize();  // there was none
  run_check(100);
  try {
    synchronize();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kernel_reported);
    EXPECT_STREQ(error.what(), "Index 2 exceeds limit 1");
  }
  synchronize();  // forgotten
}

TEST(ReportedErrors, SayWhereTheyCameFrom) {
  synchronize();
  run_check(100);
  const auto reported = take_reported_error();
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->message, "Index 2 exceeds limit 1");
  EXPECT_EQ(reported->function, "check");
  EXPECT_EQ(reported->line, 4u);
  EXPECT_EQ(reported->count, 98u);
  EXPECT_FALSE(take_reported_error());
}

}  // namespace reported_errors_test
}  // namespace metalloid
