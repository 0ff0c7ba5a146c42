// Types of Metal that kernels here cannot have: the compiler names them and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace {

using ::testing::HasSubstr;

std::string log_of(const std::string& text) {
  try {
    Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(UnsupportedTypes, TexturesAreNamed) {
  const std::string log = log_of(
      "kernel void blur(texture2d<float, access::read> image [[texture(0)]], device float* x [[buffer(0)]],\n"
      "                 uint2 at [[thread_position_in_grid]]) { x[0] = 1; }\n");
  EXPECT_THAT(log, HasSubstr("texture2d<float, metal::access::read>"));
  EXPECT_THAT(log, HasSubstr("textures are not supported by Metalloid"));
  EXPECT_THAT(log, HasSubstr(":3:"));
}

TEST(UnsupportedTypes, SamplersAreNamed) {
  EXPECT_THAT(log_of("constexpr sampler linear(coord::normalized, filter::linear, address::clamp_to_edge);\n"),
              HasSubstr("samplers are not supported by Metalloid"));
}

}  // namespace
}  // namespace metalloid
