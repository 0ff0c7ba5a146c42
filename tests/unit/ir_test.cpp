// What the shared passes make of a kernel, read off the IR that engines get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/assemble.h"
#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace ir_test {

using ::testing::HasSubstr;
using ::testing::Not;

// As the reference engine gets it, which takes calls.
std::string ir_of(const std::string& text, const FunctionConstants& constants = {}) {
  Library library = Device::named("reference").make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text);
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
constant bool is_fast = is_function_constant_defined(mode) && mode == 2;
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

TEST(Passes, KeepCallsOfNoinlineFunctions) {
  const std::string source = R"(
__attribute__((noinline)) float kept(float x) { return x * 3.0f; }
float inlined(float x) { return x + 5.0f; }
kernel void test(device float* out) { out[0] = inlined(kept(out[1])); })";
  const std::string ir = ir_of(source);
  EXPECT_THAT(ir, HasSubstr("@_Z4keptf(float %0)"));
  EXPECT_THAT(ir, Not(HasSubstr("@_Z7inlinedf")));
}

TEST(Passes, InlineEverythingForEnginesThatWantIt) {
  const std::string assembly = R"(
define void @test(ptr addrspace(1) %x) {
  %1 = load i32, ptr addrspace(1) %x
  %2 = call i32 @kept(i32 %1)
  store i32 %2, ptr addrspace(1) %x
  ret void
}
define i32 @kept(i32 %x) noinline {
  %1 = add i32 %x, 7
  ret i32 %1
})";
  EXPECT_THAT(ir::print_specialised(assembly, "test", {}), HasSubstr("kept"));
  EXPECT_THAT(ir::print_specialised(assembly, "test", {.inlining = {.everything = true}}), Not(HasSubstr("kept")));
}

// Eight levels of four calls each are 65,536 copies.
std::string ladder(const std::string& qualifier) {
  std::string text = "float level0(float x) { return exp(x) * sin(x); }\n";
  for (int i = 1; i <= 8; ++i) {
    const std::string below = "level" + std::to_string(i - 1);
    text += qualifier + " float level" + std::to_string(i) + "(float x) { return " + below + "(x) + " + below +
            "(x + 1) * " + below + "(x + 2) - " + below + "(x * 3); }\n";
  }
  return text + "kernel void test(device float* out) { out[0] = level8(out[1]); }\n";
}

TEST(Passes, KeepCallsWhereCopiesWouldBeTooMany) {
  for (const char* qualifier : {"static", "METAL_FUNC"}) {
    const std::string ir = ir_of(ladder(qualifier));
    EXPECT_THAT(ir, HasSubstr("level7"));
    EXPECT_LT(ir.size(), 2'000'000u);
  }
}

TEST(Passes, RefuseUndefinedFunctionsByPlace) {
  const std::string source = R"(
constant bool looks [[function_constant(0)]];
struct Scene { texture2d<float> image [[id(0)]]; };
float look(constant Scene& scene, bool wanted) { return wanted ? scene.image.read(uint2(0)).x : 1.0f; }
float deeper(constant Scene& scene) { return look(scene, looks) + look(scene, false); }
kernel void test(constant Scene& scene, device float* x) { x[0] = deeper(scene); })";
  EXPECT_NO_THROW(ir_of(source, FunctionConstants().set("looks", false)));
  try {
    ir_of(source, FunctionConstants().set("looks", true));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr(":6: kernel 'test' calls 'metal::"));
    EXPECT_THAT(error.what(), HasSubstr("textures are not supported"));
  }
}

TEST(Assembly, GoesToBitcodeAndBack) {
  std::string bitcode = ir::assemble("define i32 @answer() {\n  ret i32 42\n}\n");
  EXPECT_THAT(ir::disassemble(bitcode), HasSubstr("ret i32 42"));
  EXPECT_THROW(ir::assemble("define i32 @broken( {"), Error);
  EXPECT_THROW(ir::disassemble("no bitcode"), Error);
}

}  // namespace ir_test
}  // namespace metalloid
