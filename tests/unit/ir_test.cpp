// What the shared passes make of a kernel, read off the IR that engines get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/assemble.h"
#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ir_of(const std::string& text, const FunctionConstants& constants = {}) {
  Library library = Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  return emit(library, "test", Emit::ir, constants);
}

TEST(Passes, TakeOnlyWhatTheKernelReaches) {
  std::string ir = ir_of(R"(
float used(float x) { return x * 3.0f; }
kernel void other(device float* out) { out[0] = 12345.0f; }
kernel void test(device float* out) { out[0] = used(out[1]); })");
  EXPECT_THAT(ir, Not(HasSubstr("other")));
  EXPECT_THAT(ir, HasSubstr("3.000000e+00"));
  EXPECT_THAT(ir, Not(HasSubstr("call"))) << "everything is inlined";
  EXPECT_THAT(ir, Not(HasSubstr("alloca"))) << "variables are registers";
  EXPECT_THAT(ir, HasSubstr("!dbg")) << "source lines stay";
}

TEST(Passes, FoldFunctionConstantsAndWhatDerivesFromThem) {
  const std::string source = R"(
constant int mode [[function_constant(0)]];
constant bool is_fast = mode == 2;
constant int scaled = is_function_constant_defined(mode) ? mode * 1000 + 7 : -1;
kernel void test(device float* out, device float* extra [[buffer(1), function_constant(is_fast)]]) {
  out[1] = scaled;
  if (is_fast) { out[0] = extra[0] + 111.0f; } else { out[0] = 222.0f; }
})";
  std::string fast = ir_of(source, FunctionConstants().set("mode", std::int64_t{2}));
  EXPECT_THAT(fast, HasSubstr("1.110000e+02"));
  EXPECT_THAT(fast, Not(HasSubstr("2.220000e+02")));
  EXPECT_THAT(fast, HasSubstr("2.007000e+03"));
  EXPECT_THAT(fast, Not(HasSubstr("br "))) << "the branch is gone";
  std::string slow = ir_of(source);
  EXPECT_THAT(slow, HasSubstr("2.220000e+02"));
  EXPECT_THAT(slow, Not(HasSubstr("1.110000e+02")));
  EXPECT_THAT(slow, HasSubstr("-1.000000e+00"));

  Library library = Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + source);
  EXPECT_FALSE(library.kernel("test").info().arguments[1].is_active);
  EXPECT_TRUE(library.kernel("test", FunctionConstants().set(0, 2.0)).info().arguments[1].is_active);
}

TEST(Passes, DefineWhatCppLeavesUndefined) {
  std::string ir = ir_of(
      "kernel void test(device int* x) { x[0] = x[1] << x[2]; x[3] = x[4] / x[5]; x[6] = int(as_type<float>(x[7])); }");
  EXPECT_THAT(ir, HasSubstr("and i32"));
  EXPECT_THAT(ir, HasSubstr("select"));
  EXPECT_THAT(ir, HasSubstr("@llvm.fptosi.sat.i32.f32"));
  std::string harmless = ir_of("kernel void test(device uint* x) { x[0] = x[1] << 3; x[2] = x[3] / 7; }");
  EXPECT_THAT(harmless, Not(HasSubstr("select")));
  EXPECT_THAT(harmless, Not(HasSubstr("and i32")));
}

TEST(Passes, KeepEndlessLoops) {
  EXPECT_THAT(ir_of("kernel void test(device int* x) { while (true) {} }"), Not(HasSubstr("unreachable")));
}

TEST(Passes, KeepRecursionAndOpaqueOperations) {
  std::string ir = ir_of(R"(
uint factorial(uint n) { return n < 2 ? 1 : n * factorial(n - 1); }
kernel void test(device uint* x) { x[0] = simd_sum(factorial(x[1])); })");
  EXPECT_THAT(ir, HasSubstr("factorial"));
  EXPECT_THAT(ir, HasSubstr("@metalloid.simd.sum.u32"));
  EXPECT_THAT(ir, HasSubstr("convergent"));
}

TEST(Assembly, GoesToBitcodeAndBack) {
  std::string bitcode = ir::assemble("define i32 @answer() {\n  ret i32 42\n}\n");
  EXPECT_THAT(ir::disassemble(bitcode), HasSubstr("ret i32 42"));
  EXPECT_THROW(ir::assemble("define i32 @broken( {"), Error);
  EXPECT_THROW(ir::disassemble("no bitcode"), Error);
}

}  // namespace
}  // namespace metalloid
