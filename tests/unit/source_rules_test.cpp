// What Metal forbids, and that the messages say so in Metal's words, at the place in the user's text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/compile/compile_jobs.h"

namespace metalloid {
namespace source_rules_test {

using testing::HasSubstr;
using testing::Not;

struct Mistake {
  const char* name;
  const char* source;
  const char* message;  // from the line number on
};

std::string log_of(const std::string& source, LanguageVersion language = default_language_version) {
  CompileOptions options;
  options.language = language;
  try {
    return runtime::compile_library("#include <metal_stdlib>\nusing namespace metal;\n" + source, options)
        .library.warnings;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error);
    return error.what();
  }
}

class MistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsExplained) {
  const std::string log = log_of(GetParam().source);
  EXPECT_THAT(log, HasSubstr(GetParam().message));
  for (const char* inner : {"__global", "__local", "__constant", "__private", "OpenCL", "metalloid:", "METALLOID",
                            "annotate", "/metalloid/", "<built-in>", "__builtin", "'static'"}) {
    EXPECT_THAT(log, Not(HasSubstr(inner)));
  }
}

const Mistake mistakes[] = {
    {"MissingAttribute", "kernel void f(device float* x, uint i) {}",
     "3:37: error: invalid type 'uint' for input declaration in a kernel function"},
    {"BufferThatWraps", "kernel void f(device float* x [[buffer(4294967296)]]) {}",
     "3:29: error: 'buffer' attribute parameter is out of bounds: must be between 0 and 30"},
    {"BufferThatDividesByZero", "kernel void f(device float* x [[buffer(5 / 0)]]) {}",
     "3:40: error: the argument of an attribute must be a constant expression"},
    {"ThreadsTwice", "[[max_total_threads_per_threadgroup(32, 64)]] kernel void f(device float* x) {}",
     "error: 'max_total_threads_per_threadgroup' attribute takes one argument"},
    {"GateTwice",
     "constant bool a [[function_constant(0)]]; constant bool b [[function_constant(1)]];"
     "kernel void f(device float* x [[buffer(0), function_constant(a, b)]]) {}",
     "error: 'function_constant' attribute takes one argument"},
    {"GateOfFractions", "kernel void f(device float* x [[buffer(0), function_constant(0.5f)]]) {}",
     "error: 'function_constant' attribute of argument 'x' must name a boolean constant"},
    {"DeviceAtProgramScope", "device int g = 4;", "3:12: error: program scope variable must reside in constant"},
    {"DeviceInNamespace", "namespace n { device float g[4]; }",
     "error: program scope variable must reside in constant"},
    {"DeviceMember", "struct S { static device int g; };", "error: program scope variable must reside in constant"},
    {"DeviceTemplate", "template <typename T> device T g;", "error: program scope variable must reside in constant"},
    {"ThreadgroupAtProgramScope", "threadgroup int g;", "error: program scope variable must reside in constant"},
    {"DeviceStatic", "kernel void f(device int* x) { static device int g = 4; x[0] = g; }",
     "error: static local variable must reside in constant address space"},
    {"NegativeBuffer", "kernel void f(device float* x [[buffer(-1)]]) {}",
     "'buffer' attribute parameter is out of bounds: must be between 0 and 30"},
    {"FractionalBuffer", "kernel void f(device float* x [[buffer(0.5)]]) {}",
     "3:29: error: 'buffer' attribute requires an integer constant"},
    {"BufferWithoutIndex", "kernel void f(device float* x [[buffer]]) {}", "'buffer' attribute takes one argument"},
    {"FunctionConstantThatWraps", "constant int n [[function_constant(65536)]];",
     "'function_constant' attribute parameter is out of bounds: must be between 0 and 65535"},
    {"FunctionConstantThatWrapsMore", "constant int n [[function_constant(4294967296)]];",
     "'function_constant' attribute parameter is out of bounds: must be between 0 and 65535"},
    {"NegativeFunctionConstant", "constant int n [[function_constant(-1)]];",
     "'function_constant' attribute parameter is out of bounds: must be between 0 and 65535"},
    {"FunctionConstantOfText", "constant int n [[function_constant(\"x\")]];",
     "3:14: error: 'function_constant' attribute requires an integer constant"},
    {"FunctionConstantWithoutIndex", "constant int n [[function_constant]];",
     "3:14: error: 'function_constant' attribute takes one argument"},
    {"FunctionConstantTwice", "constant int n [[function_constant(0, 1)]];",
     "3:14: error: 'function_constant' attribute takes one argument"},
    {"NegativeId", "struct A {\n  device float* x [[id(-1)]];\n};",
     "4:17: error: 'id' attribute parameter is out of bounds: must be between 0 and 4294967295"},
    {"IdThatWraps", "struct A { device float* x [[id(4294967296)]]; };",
     "3:26: error: 'id' attribute parameter is out of bounds: must be between 0 and 4294967295"},
    {"IdOfText", "struct A { device float* x [[id(\"x\")]]; };",
     "3:26: error: 'id' attribute requires an integer constant"},
    {"IdWithoutIndex", "struct A { struct B { device float* x [[id]]; } b; };",
     "3:37: error: 'id' attribute takes one argument"},
    {"NegativeIdOfTemplate",
     "template <int n> struct A { device float* x [[id(n)]]; };\nkernel void f(constant A<1>& a, constant A<-1>& b) {}",
     "3:43: error: 'id' attribute parameter is out of bounds: must be between 0 and 4294967295"},
    {"NegativeIdInTemplate",
     "template <typename T> struct A { struct B { device T* x [[id(-1)]]; } b; };\nkernel void f(constant A<int>& a) "
     "{}",
     "3:55: error: 'id' attribute parameter is out of bounds: must be between 0 and 4294967295"},
    {"ThreadsThatWrap", "[[max_total_threads_per_threadgroup(4294967297)]] kernel void f(device float* x) {}",
     "'max_total_threads_per_threadgroup' attribute parameter is out of bounds: must be at least 1"},
    {"NoThreads", "[[max_total_threads_per_threadgroup(0)]] kernel void f(device float* x) {}",
     "'max_total_threads_per_threadgroup' attribute parameter is out of bounds: must be at least 1"},
    {"EmptyHostName", "[[host_name(\"\")]] kernel void f(device float* x) {}", "'host_name' must not be empty"},
    {"HostNameOfBytes", "[[host_name(\"\\xff\")]] kernel void f(device float* x) {}",
     "'host_name' must be text in UTF-8"},
    {"MisspeltAttribute", "kernel void f(device float* x, uint i [[thread_position_in_gird]]) {}",
     "unknown attribute 'thread_position_in_gird'; did you mean 'thread_position_in_grid'?"},
    {"MisspeltBuffer", "kernel void f(device float* x [[bufer(0)]]) {}",
     "warning: unknown attribute 'bufer' ignored; did you mean 'buffer'?"},
    {"OtherStage", "kernel void f(uint i [[vertex_id]]) {}",
     "invalid 'vertex_id' attribute for input declaration in a kernel function"},
    {"MissingSpace", "kernel void f(float* x [[buffer(0)]]) {}",
     "3:22: error: pointer type must have explicit address space qualifier"},
    {"LocalPointerWithoutSpace", "kernel void f(device float* x) { float* y = x; }",
     "3:39: error: pointer type must have explicit address space qualifier"},
    {"ParameterWithoutSpace", "void g(int n, uint *x) { *x = n; }",
     "3:20: error: pointer type must have explicit address space qualifier"},
    {"ReferenceWithoutSpace", "int g(const int& x) { return x; }",
     "3:16: error: reference type must have explicit address space qualifier"},
    {"CastWithoutSpace", "kernel void f(device uint* x) { thread uchar t[4]; x[0] = *(uint*)t; }",
     "3:65: error: pointer type must have explicit address space qualifier"},
    {"MemberWithoutSpace", "struct S { float* x; };",
     "3:17: error: pointer type must have explicit address space qualifier"},
    {"ValueWithBuffer", "kernel void f(float x [[buffer(0)]]) {}", "type 'float' is not valid for attribute 'buffer'"},
    {"DeviceWithThreadgroup", "kernel void f(device float* x [[threadgroup(0)]]) {}",
     "attribute 'threadgroup' is not valid for argument 'x' in the device address space"},
    {"MixedShapes", "kernel void f(uint i [[thread_position_in_grid]], uint3 n [[threads_per_threadgroup]]) {}",
     "3:13: error: expecting input declarations with either all scalar types or all vector types with the same number "
     "of elements"},
    {"AttributeAfterParameters", "kernel void f(device float* x) [[max_total_threads_per_threadgroup(64)]] {}",
     "3:34: error: 'max_total_threads_per_threadgroup' attribute cannot be applied to types"},
    {"AttributeAfterKernel", "kernel [[max_total_threads_per_threadgroup(64)]] void f(device float* x) {}",
     "3:8: error: an attribute list cannot appear here"},
    {"WrongSpace", "void g(device float* x);\nkernel void f(device float* x) { float y; g(&y); }",
     "cannot pass pointer to address space 'thread' as a pointer to address space 'device'"},
    {"CastOfSpace", "kernel void f(device float* x) { constant float* y = (constant float*)x; }",
     "3:54: error: C-style cast from 'device float *' to 'const constant float *' converts between mismatching address "
     "spaces"},
    {"Double", "kernel void f(device float* x) { double y = 1; }", "3:34: error: 'double' is not supported in Metal"},
    {"LongDouble", "kernel void f(device float* x) { x[0] = 1.5L; }", "'long double' is not supported in Metal"},
    {"GlobalVariable", "int counter = 0;", "3:5: error: program scope variable must reside in constant address space"},
    {"GlobalConstant", "constexpr int n = 4;", "program scope variable must reside in constant address space"},
    {"StaticLocal", "kernel void f() { static int n; }", "static local variable must reside in constant address space"},
    {"ThreadgroupInHelper", "void g() { threadgroup float t[4]; }",
     "3:30: error: variables in the threadgroup address space cannot be declared in a non-qualified function"},
    {"ThreadgroupOfVariableLength", "kernel void f(constant int& n) { threadgroup float t[n]; }",
     "variable length arrays are not supported in Metal"},
    {"VariableLength", "kernel void f(constant int& n) { float t[n]; }",
     "3:40: error: variable length arrays are not supported in Metal"},
    {"FunctionConstantWithValue", "constant int k [[function_constant(0)]] = 3;",
     "a function constant cannot have an initializer"},
    {"KernelCallsKernel", "kernel void g(device int* x) {}\nkernel void f(device int* x) { g(x); }",
     "4:32: error: kernel function 'g' cannot be called from other functions"},
    {"KernelCallsItself", "kernel void f(device int* x) {\n if (x[0]-- > 0) f(x); }",
     "4:18: error: kernel function 'f' cannot be called from other functions"},
    {"HelperCallsKernel",
     "kernel void f(device int* x);\nvoid g(device int* x) { f(x); }\nkernel void f(device int* x) {}",
     "4:25: error: kernel function 'f' cannot be called from other functions"},
    {"TemplateCallsKernel",
     "kernel void g(device int* x) {}\ntemplate <typename T> void h(device T* x) { g(x); }\n"
     "kernel void f(device int* x) { h(x); }",
     "4:45: error: kernel function 'g' cannot be called from other functions"},
    {"KernelTemplateCalled",
     "template <typename T> kernel void g(device T* x) {}\ntemplate kernel void g<int>(device int*);\n"
     "kernel void f(device int* x) { g<int>(x); }",
     "5:32: error: kernel function 'g' cannot be called from other functions"},
    {"KernelAddress", "kernel void g(device int* x) {}\nkernel void f(device int* x) { auto p = &g; p(x); }",
     "4:42: error: kernel function 'g' cannot be called from other functions"},
    {"KernelAsTemplateArgument",
     "kernel void g(device int* x) {}\ntemplate <void (*F)(device int*)> void h(device int* x) { F(x); }\n"
     "kernel void f(device int* x) { h<g>(x); }",
     "kernel function 'g' cannot be called from other functions"},
    {"Goto", "kernel void f() { again: goto again; }", "3:26: error: 'goto' is not supported in Metal"},
    {"Assembly", "kernel void f() { asm(\"nop\"); }", "inline assembly is not supported in Metal"},
    {"New", "kernel void f() { thread int* p = new int(3); }", "'new' is not supported in Metal"},
    {"Virtual", "struct A { virtual void g() {} };", "virtual functions are not supported in Metal"},
    {"Typeid", "kernel void f() { (void)typeid(int).name(); }", "'typeid' is not supported in Metal"},
    {"WideAtomic", "kernel void f(device atomic_ulong* x) { atomic_fetch_add_explicit(x, 1ul, memory_order_relaxed); }",
     "3:41: error: atomic_fetch_add_explicit is not available for 64-bit types in Metal"},
    {"PlainAtomic", "kernel void f(device uint* x) { atomic_fetch_add_explicit(x, 1u, memory_order_relaxed); }",
     "could not match 'volatile device atomic<T>' against 'device uint'"},
    {"BarrierWithoutFlags", "kernel void f() { threadgroup_barrier(); }",
     "requires at least argument 'flags', but no arguments were provided"},
    {"VectorsOfTwoTypes", "kernel void f() { float4 x = half4(1) * float4(2); }",
     "invalid operands to binary expression"},
    {"VectorOfAnotherWidth", "kernel void f(device float4* x) { x[0] = float3(1); }",
     "note: no known conversion from 'float3' to 'const float4'\n"},
    {"ComponentBeyondVector", "kernel void f(device float2* x) { x[0].z = 1; }",
     "3:40: error: vector component access exceeds type 'float2'"},
    {"NoComponent", "kernel void f(device uint4* x) { x[0].xq = uint2(1); }",
     "3:39: error: illegal vector component name 'q'"},
    {"TooFewComponents", "kernel void f(device float4* x) { x[0] = float4(1, 2); }",
     "error: no matching constructor for initialization of 'float4'\n    3 |"},
    {"ShortTypeNames", "kernel void f(device float4x4* m, device uint3* v) { v[0] = m[0] * v[0]; }",
     "invalid operands to binary expression ('device float4x4' and 'device uint3')"},
    {"AssertionOfTheLibrary", "kernel void f(device float* x) { x[0] = as_type<float>(half(1)); }",
     "program_source:3:41: error: as_type needs types of the same size\n    3 | kernel"},
    {"AssertionOfALibraryClass", "kernel void f() { simdgroup_matrix<float, 4, 4> m; }",
     "program_source:3:49: error: simdgroup matrices are 8x8\n"},
    {"RepeatedSwizzle", "kernel void f() { float4 x; x.xx = float2(1); }",
     "vector is not assignable (contains duplicate components)"},
    {"SwizzleOfASwizzle", "kernel void f() { float4 x; x.wzyx.lo = float2(1); }",
     "vector is not assignable (part of a swizzle, which is a copy)"},
};

INSTANTIATE_TEST_SUITE_P(Metal, MistakeTest, testing::ValuesIn(mistakes),
                         [](const testing::TestParamInfo<Mistake>& test) { return std::string(test.param.name); });

TEST(SourceRules, LambdasCameWithMetal32) {
  const std::string source = "kernel void f(device float* x) { auto g = [](float v) { return v; }; x[0] = g(1); }";
  EXPECT_THAT(log_of(source, {3, 1}), HasSubstr("3:43: error: lambda expressions are not supported in Metal"));
  EXPECT_EQ(log_of(source, {3, 2}), "");
}

TEST(SourceRules, KnowsNoKeywordsOfOpenCl) {
  EXPECT_THAT(
      log_of("kernel void f(__global float* x) {}"),
      HasSubstr("3:15: error: unknown address space \"__global\"\n    3 | kernel void f(__global float* x) {}"));
}

// Each of these is accepted on purpose.
TEST(SourceRules, AcceptsWhatMetalAccepts) {
  EXPECT_EQ(log_of(R"(
    [[max_total_threads_per_threadgroup(64)]] kernel void before(device float* x) {}
    [[kernel, max_total_threads_per_threadgroup(64)]] void with(device float* x) {}
    template <int n> [[kernel]] void pattern(device int* x) { threadgroup int t[n]; t[0] = 1; x[0] = t[0]; }
    template [[host_name("eight")]] [[kernel]] void pattern<8>(device int*);
    kernel void words(uint3 i [[thread_position_in_grid]], ushort3 n [[threads_per_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {}
    kernel void bits(device float* x) { device uint* y = (device uint*)x; y[0] = as_type<uint>(x[1]); }
    #define THREAD thread
    void spaces(thread int* a, const thread int* b, int thread* c, thread const int& d, thread float (&e)[4],
                THREAD int* f, thread metal::array<thread int*, 2>& g, float h[3], device char** i) {
      thread int *first = a, *second = &first[0];
      auto* third = a;
      auto& fourth = *second;
      const auto add = [](thread int& x, thread const int& y) { return x + y; };
      for (const auto& x : e) fourth += x + *third + add(*a, d);
      decltype(a) fifth = a;
      thread int* thread* sixth = &fifth;
      **sixth = *(thread int*)a + *reinterpret_cast<thread const int*>(e) + h[0];
    }
    template <typename T, typename U> void templates(T x, thread U* y, U* z) { *z = *y = *x; }
    kernel void call(device int* x) { thread int y, z; templates(x, &y, &z); }
    struct Rows { device float* rows [[id(0)]][3]; constant int& n [[id(3)]]; };
  )"),
            "");
}

}  // namespace source_rules_test
}  // namespace metalloid
