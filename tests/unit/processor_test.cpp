// $METALLOID_CPU: the processor that code is made for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace processor_test {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class Processor : public testing::TestWithParam<const char*> {
 protected:
  Processor() {
    if (const char* own = std::getenv("METALLOID_CPU")) before_ = own;
  }
  ~Processor() override { choose(before_); }

  static void choose(const std::string& name) {
    if (name.empty())
      unsetenv("METALLOID_CPU");
    else
      setenv("METALLOID_CPU", name.c_str(), 1);
  }
  static std::string assembly() {
    const Device device = Device::named(GetParam());
    const Library library = device.make_library(
        "kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * 3 + 1; }");
    return emit(library, "scale", Emit::assembly);
  }
  static std::string refusal() {
    try {
      assembly();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  }

 private:
  std::string before_;
};

TEST_P(Processor, NamesMustBeKnown) {
  choose("abacus");
  EXPECT_THAT(refusal(), HasSubstr("$METALLOID_CPU names no processor of this architecture: 'abacus'"));
}

#ifdef __x86_64__
TEST_P(Processor, CodeIsMadeForTheOneThatIsChosen) {
  choose("x86-64");
  EXPECT_THAT(assembly(), Not(AnyOf(HasSubstr("%ymm"), HasSubstr("%zmm"), HasSubstr("\tv"))));
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  choose("haswell");
  EXPECT_THAT(assembly(), HasSubstr("\tv"));
  EXPECT_THAT(assembly(), Not(HasSubstr("%zmm")));
}

// No processor has the instructions of both.
TEST_P(Processor, ItsInstructionsMustBeHere) {
  choose("znver1");
  const std::string amd = refusal();
  choose("diamondrapids");
  const std::string intel = refusal();
  EXPECT_THAT(amd + intel, HasSubstr("has no "));
  EXPECT_THAT(amd + intel, AnyOf(HasSubstr("sse4a"), HasSubstr("amx")));
}
#endif

INSTANTIATE_TEST_SUITE_P(Engines, Processor, testing::Values("simd", "reference"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace processor_test
}  // namespace metalloid
