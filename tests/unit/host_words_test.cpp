// By what a source could reach the process that compiles or runs it: refused where it stands, in Metal's words; and
// what gets past that is refused by the closed list of operations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/assemble.h"
#include "metalloid/metalloid.h"
#include "runtime/compile/compile_jobs.h"

namespace metalloid {
namespace host_words_test {

using testing::HasSubstr;

std::string log_of(const std::string& source) {
  try {
    return runtime::compile_library(source, {}).library.warnings;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error) << error.what();
    return error.what();
  }
}

struct Refused {
  const char* name;
  const char* source;
  const char* message;
};

class HostWords : public testing::TestWithParam<Refused> {};

TEST_P(HostWords, AreRefused) { EXPECT_THAT(log_of(GetParam().source), HasSubstr(GetParam().message)); }

const Refused refused[] = {
    {"Label", "void i(int) asm(\"llvm.x86.int\");\nkernel void f() { i(3); }",
     "1:13: error: assembler labels are not supported in Metal: 'llvm.x86.int'"},
    {"LabelOfOperation", "void i(int) __asm__(\"metalloid.\" \"threadgroup_barrier\");",
     "assembler labels are not supported in Metal: 'metalloid.threadgroup_barrier'"},
    {"LabelOfVariable", "extern constant int e __asm(\"environ\");", "assembler labels are not supported in Metal"},
    {"LabelInTemplate", "template <typename T> struct S { static void g(T) asm(\"system\"); };",
     "assembler labels are not supported in Metal: 'system'"},
    {"UnknownLabelOfApple", "void g() __asm(\"air.some_function\");",
     "error: function 'air.some_function' is not supported by Metalloid"},
    {"Assembly", "kernel void f() { asm volatile(\"int3\" ::: \"memory\"); }",
     "1:19: error: inline assembly is not supported in Metal"},
    {"AssemblyAfterCondition", "kernel void f() { if (true) asm(\"int3\"); }", "1:29: error: inline assembly"},
    {"AssemblyAtFileScope", "asm(\".globl x\");", "1:1: error: inline assembly is not supported in Metal"},
    {"AssemblyInUnusedTemplate", "template <typename T> void g(T) { asm(\"int3\"); }", "inline assembly"},
    {"AssemblyByMacro", "#define A(x) __asm__(x)\nkernel void f() { A(\"int3\"); }", "inline assembly"},
    {"Frame", "kernel void f(device ulong* x) { x[0] = (ulong)__builtin_frame_address(0); }",
     "'__builtin_frame_address' is not available in Metal"},
    {"ReturnAddress", "kernel void f(device ulong* x) { x[0] = (ulong)__builtin_return_address(0); }",
     "'__builtin_return_address' is not available in Metal"},
    {"Jump", "void g(thread void** b) { __builtin_longjmp(b, 1); }", "'__builtin_longjmp' is not available in Metal"},
    {"DebugTrap", "kernel void f() { __builtin_debugtrap(); }", "'__builtin_debugtrap' is not available in Metal"},
    {"Alloca", "kernel void f(device int* x) { (void)__builtin_alloca(x[0]); }", "'__builtin_alloca'"},
    {"Counter", "kernel void f(device ulong* x) { x[0] = __builtin_readcyclecounter(); }",
     "'__builtin_readcyclecounter'"},
    {"PastedBuiltin", "#define C(a, b) a##b\nkernel void f() { C(__builtin_, debugtrap)(); }", "'__builtin_debugtrap'"},
    {"LibraryBuiltin", "kernel void f() { __builtin_printf(\"x\"); }", "'__builtin_printf' is not available in Metal"},
    {"OldAtomics", "kernel void f(device int* x) { __sync_fetch_and_add(x, 1); }", "is not available in Metal"},
    {"Alias", "int g();\nint h() __attribute__((alias(\"g\")));", "'alias' attribute is not supported in Metal"},
    {"Ifunc", "int h() __attribute__((unused, ifunc(\"g\")));", "'ifunc' attribute is not supported in Metal"},
    {"Section", "[[gnu::section(\".init\")]] int h() { return 1; }", "'section' attribute is not supported in Metal"},
    {"Using", "[[using gnu: unused, naked]] void h() {}", "'naked' attribute is not supported in Metal"},
    {"Underscores", "__attribute__((__constructor__)) void h() {}", "'constructor' attribute is not supported"},
    {"Declspec", "__declspec(naked) void h() {}", "'naked' attribute is not supported in Metal"},
    {"Cleanup", "void c(thread int*);\nkernel void f() { __attribute__((cleanup(c))) int y = 1; }",
     "'cleanup' attribute"},
    {"Target", "__attribute__((target(\"avx512f\"))) void h() {}", "'target' attribute is not supported in Metal"},
    {"Convention", "__attribute__((vectorcall)) void h() {}", "'vectorcall' attribute is not supported in Metal"},
    {"Annotation", "__attribute__((annotate(\"metalloid.kernel\"))) void h() {}",
     "'annotate' attribute is not supported"},
    // Segments of the host's processor, in every spelling.
    {"Space", "kernel void f(device int* x) {\n  x[0] = *(int __attribute__((address_space(257)))*)0;\n}",
     "2:31: error: 'address_space' attribute is not supported in Metal"},
    {"SpaceWithUnderscores", "int __attribute__((__address_space__(257)))* p();", "'address_space' attribute"},
    {"SpaceOfClang", "using P = int [[clang::address_space(257)]] *;", "1:24: error: 'address_space' attribute"},
    {"SpaceOfClangWithUnderscores", "using P = int [[_Clang::__address_space__(257)]] *;", "'address_space' attribute"},
    {"SpaceByUsing", "using P = int [[using clang: address_space(257)]] *;", "'address_space' attribute"},
    {"SpaceByDigraphs", "using P = int <:<:clang::address_space(257):>:> *;", "'address_space' attribute"},
    {"SpaceOfTemplate", "template <int N> using P = int __attribute__((address_space(N)))*;",
     "'address_space' attribute"},
    {"SpaceByMacro", "#define C(a, b) a##b\n#define A(x) __attribute__((C(address_, space)(x)))\nint A(257)* p();",
     "3:5: error: 'address_space' attribute"},
    {"SpaceBesideHarmless", "[[nodiscard, clang::address_space(257)]] int p();", "'address_space' attribute"},
    {"SpaceOfOpenCl", "typedef int T __attribute__((opencl_global));", "'opencl_global' attribute"},
    {"ConventionByKeyword", "void __vectorcall h() {}", "1:6: error: '__vectorcall' is not supported in Metal"},
    {"OldConventionByKeyword", "void __cdecl h() {}", "'__cdecl' is not supported in Metal"},
    {"ThreadLocalOfGnu", "static __thread int z;", "'__thread' is not supported in Metal"},
    {"SignedPointer", "int* __ptrauth(1, 1, 1) p();", "'__ptrauth' is not supported in Metal"},
    {"AnnotationInParts", "__attribute__((annotate(\"metal\" \"loid.kernel\"))) void h() {}", "'annotate' attribute"},
    {"AnnotationByNumbers", "[[clang::annotate(\"\\x6d\" \"etalloid.kernel\")]] void h() {}", "'annotate' attribute"},
    {"RawAnnotation", "[[clang::annotate(R\"(metalloid.kernel)\")]] void h() {}", "'annotate' attribute"},
    {"Interrupts", "[[gnu::interrupt]] void h() {}", "'interrupt' attribute is not supported in Metal"},
    // Types that Metal does not have.
    {"Complex", "kernel void f() { _Complex float z; }", "1:19: error: '_Complex' is not supported in Metal"},
    {"ComplexOfGnu", "float h(__complex__ float z);", "'__complex__' is not supported in Metal"},
    {"ImaginaryNumber", "kernel void f(device float* x) { auto z = 1.0fi; }",
     "1:43: error: complex numbers are not supported in Metal"},
    {"VectorOfGnu", "typedef float v __attribute__((vector_size(32)));", "'vector_size' attribute is not supported"},
    {"VectorOfOpenCl", "typedef float v [[clang::ext_vector_type(8)]];",
     "'ext_vector_type' attribute is not supported"},
    {"Matrix", "typedef float m __attribute__((matrix_type(4, 4)));", "'matrix_type' attribute is not supported"},
    {"Mode", "typedef int t __attribute__((mode(TI)));", "'mode' attribute is not supported in Metal"},
    {"WideInteger", "__int128 h();", "'__int128' is not supported in Metal"},
    {"BitInteger", "_BitInt(100) h();", "'_BitInt' is not supported in Metal"},
    {"Atomic", "void h(thread _Atomic(int)* x);", "'_Atomic' is not supported in Metal"},
    // Builtin functions that are no arithmetic.
    {"AtomicBuiltin", "void h(device int* x) { __atomic_fetch_add(x, 1, 0); }",
     "1:25: error: '__atomic_fetch_add' is not available in Metal"},
    {"AtomicOfC11", "void h(device int* x) { __c11_atomic_store(x, 1, 0); }", "'__c11_atomic_store' is not available"},
    {"ScopedAtomic", "void h(device int* x) { __scoped_atomic_store_n(x, 1, 0, 0); }", "is not available in Metal"},
    {"NonTemporal", "void h(device int* x) { __builtin_nontemporal_store(1, x); }", "is not available in Metal"},
    {"VectorBuiltin", "float h(float x) { return __builtin_elementwise_abs(x); }", "is not available in Metal"},
    {"Reinterpretation", "float h(int x) { return __builtin_astype(x, float); }", "is not supported in Metal"},
    {"ThreadLocal", "thread_local int z;", "'thread_local' is not supported in Metal"},
    {"PointerFromNumber", "kernel void f(device ulong* x) { ((void (*)())x[0])(); }",
     "a pointer to a function cannot be made from"},
    {"LabelAddress", "kernel void f(device ulong* x) { a: x[0] = (ulong)&&a; }", "labels have no address in Metal"},
    {"PragmaWeak", "#pragma weak h = system\n", "'#pragma weak' is not supported in Metal"},
    {"PragmaOperator", "_Pragma(\"redefine_extname h system\")\n", "'#pragma redefine_extname' is not supported"},
    {"PragmaSection", "#pragma clang section text=\".init\"\n", "'#pragma clang section' is not supported in Metal"},
    {"PragmaAttribute", "#pragma clang attribute push(__attribute__((noinline)), apply_to = function)\n",
     "'#pragma clang attribute' is not supported in Metal"},
    {"PragmaModule", "#pragma clang module import Foo\n", "'#pragma clang module' is not supported in Metal"},
    // Claims to be somebody else.
    {"SystemHeader", "#pragma GCC system_header\n#pragma clang system_header\ndouble d();",
     "3:1: error: 'double' is not supported in Metal"},
    {"LineMarker", "# 1 \"/metalloid/stdlib/x.h\" 3\nvoid i() asm(\"x\");",
     "error: assembler labels are not supported"},
    {"LineDirective", "#line 1 \"/metalloid/stdlib/metal_math\"\ndouble d();", "error: 'double' is not supported"},
};

INSTANTIATE_TEST_SUITE_P(Metal, HostWords, testing::ValuesIn(refused),
                         [](const testing::TestParamInfo<Refused>& test) { return std::string(test.param.name); });

TEST(HostWordsInHeaders, AreRefusedToo) {
  CompileOptions options;
  options.headers["mine.h"] = "#pragma once\n#pragma clang system_header\nvoid i(int) asm(\"llvm.x86.int\");\n";
  try {
    runtime::compile_library("# 1 \"x\" 3\n#include <mine.h>\nkernel void f() { i(3); }", options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("mine.h:3:13: error: assembler labels are not supported"));
  }
}

TEST(HostWordsHarmless, StayAllowed) {
  EXPECT_EQ(log_of(R"(
    __attribute__((always_inline, unused)) inline int a(int x) { return __builtin_popcount(x); }
    [[gnu::noinline]] int b(int x) { return __builtin_expect(x, 1) + __builtin_clz(x); }
    struct __attribute__((packed)) P { char c; int i; };
    #pragma clang __debug crash
    #pragma GCC poison half
    int section(int target) { int alias = target; return alias; }
    kernel void f(device int* x) { x[0] = a(x[1]) + b(x[2]) + section(x[3]); }
  )"),
            "");
}

// The engine's view: which calls a kernel may hold.
std::string run_error(const std::string& source) {
  try {
    Library library = Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + source);
    Buffer x(64);
    run(library.kernel("f"), Dispatch().buffer(0, x).threads({1}, {1}));
    return std::to_string(x.as<int>()[0]);
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.what();
  }
}

TEST(ClosedListOfOperations, HasNoFunctionOfTheHost) {
  const char* in_c = "extern \"C\" int ";
  EXPECT_THAT(run_error(std::string(in_c) + "system(int);\nkernel void f(device int* x) {\n  x[0] = system(1); }"),
              HasSubstr("unsupported: program_source:5: kernel 'f' calls 'system', which has no definition"));
  // What the engine's own code calls is out of reach as well, with whatever type.
  EXPECT_THAT(run_error(std::string(in_c) + "memcpy(int);\nkernel void f(device int* x) { x[0] = memcpy(1); }"),
              HasSubstr("calls 'memcpy', which has no definition"));
  EXPECT_THAT(run_error("extern \"C\" float sinf(float);\nkernel void f(device float* x) { x[0] = sinf(1); }"),
              HasSubstr("calls 'sinf', which has no definition"));
  EXPECT_THAT(run_error(std::string(in_c) + "memcpy(int);\nkernel void f(device ulong* x) { x[0] = (ulong)&memcpy; }"),
              HasSubstr("unsupported: "));
}

TEST(ClosedListOfOperations, NamesOfTheSourceAreItsOwn) {
  EXPECT_EQ(run_error("extern \"C\" int memcpy(int a, int b, int c) { return a + b + c; }\nstruct S { int v[16]; };\n"
                      "kernel void f(device S* x) { S s = x[0]; s.v[0] = memcpy(s.v[1] + 1, 2, 3); x[0] = s; }"),
            "6");
  EXPECT_EQ(run_error("constant float cosf[2] = {1, 2};\n"
                      "kernel void f(device int* x) { x[0] = cos(float(x[1])) + cosf[x[2]]; }"),
            "2");
  EXPECT_EQ(run_error("extern \"C\" float sinf(float) { return 40; }\n"
                      "kernel void f(device int* x) { x[0] = sin(float(x[1])) + sinf(x[1]); }"),
            "40");
}

TEST(ClosedListOfOperations, HoldsForConstantsThatAreComputed) {
  EXPECT_THAT(run_error("extern \"C\" float getpid(float);\nconstant float p = getpid(1);\n"
                        "kernel void f(device float* x) { x[0] = p; }"),
              HasSubstr("constant 'p' calls 'getpid', which has no definition"));
  EXPECT_EQ(run_error("constant float cosf = cos(0.0f);\nkernel void f(device int* x) { x[0] = cosf; }"), "1");
}

TEST(ClosedListOfOperations, PointersToFunctionsMeanTheSourcesFunctions) {
  const std::string functions = "int a(int v) { return v + 1; }\nint b(int v) { return v * 2; }\n";
  EXPECT_EQ(run_error(functions + "kernel void f(device int* x) { int (*g)(int) = x[0] ? a : b; x[0] = g(20); }"),
            "40");
  EXPECT_EQ(run_error(functions + "typedef int (*F)(int);\nconstant F table[2] = {a, b};\n"
                                  "kernel void f(device int* x) { x[0] = table[x[1]](20); }"),
            "21");
  EXPECT_EQ(
      run_error("struct S { int v; int a() { return v; } int b() { return v + 1; } };\n"
                "kernel void f(device int* x) { int (S::*g)() = x[0] ? &S::a : &S::b; S s{3}; x[0] = (s.*g)(); }"),
      "4");
  EXPECT_THAT(run_error("union U { ulong n; void (*g)(); };\n"
                        "kernel void f(device ulong* x) { U u; u.n = 0x123400; u.g(); x[0] = 1; }"),
              HasSubstr("kernel_crashed"));
}

// Straight to the passes, past the front end.
std::string specialised(const std::string& declarations, const std::string& body) {
  try {
    ir::print_specialised(declarations + "\ndefine void @f() {\n" + body + "\n  ret void\n}\n", "f", {});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ClosedListOfOperations, HasOnlyIntrinsicsThatCompute) {
  EXPECT_EQ(specialised("@x = internal addrspace(3) global float undef\ndeclare float @llvm.sqrt.f32(float)",
                        "  %a = load float, ptr addrspace(3) @x\n  %b = call float @llvm.sqrt.f32(float %a)\n"
                        "  store float %b, ptr addrspace(3) @x"),
            "");
  EXPECT_THAT(specialised("declare void @llvm.x86.int(i8)", "  call void @llvm.x86.int(i8 3)"),
              HasSubstr("kernel 'f' uses 'llvm.x86.int', which kernels cannot call"));
  EXPECT_THAT(specialised("declare void @llvm.debugtrap()", "  call void @llvm.debugtrap()"),
              HasSubstr("llvm.debugtrap"));
  EXPECT_THAT(specialised("declare i64 @llvm.readcyclecounter()\n@x = internal addrspace(3) global i64 undef",
                          "  %a = call i64 @llvm.readcyclecounter()\n  store i64 %a, ptr addrspace(3) @x"),
              HasSubstr("llvm.readcyclecounter"));
  EXPECT_THAT(specialised("declare void @metalloid.unknown()", "  call void @metalloid.unknown()"),
              HasSubstr("calls 'metalloid.unknown', which has no definition"));
  EXPECT_THAT(specialised("declare void @metalloid.threadgroup_barrier(i32)",
                          "  call void @metalloid.threadgroup_barrier(i64 1)"),
              HasSubstr("with arguments or a result that it does not have"));
  EXPECT_THAT(specialised("", "  call void asm sideeffect \"int3\", \"\"()"), HasSubstr("holds assembly"));
  EXPECT_THAT(specialised("module asm \".globl x\"", ""), HasSubstr("holds assembly"));
  EXPECT_THAT(specialised("@v = thread_local(initialexec) global i32 0", "  store volatile i32 1, ptr @v"),
              HasSubstr("belongs to a thread of the host"));
  EXPECT_THAT(specialised("@v = global i32 0, section \".init_array\"", "  store volatile i32 1, ptr @v"),
              HasSubstr("has a section of its own"));
  for (const char* access :
       {"  store volatile i32 1, ptr addrspace(257) inttoptr (i64 40 to ptr addrspace(257))",
        "  %a = inttoptr i64 40 to ptr addrspace(256)\n  store volatile i32 1, ptr addrspace(256) %a",
        "  store volatile i32 1, ptr addrspacecast (ptr addrspace(258) inttoptr (i64 40 to ptr addrspace(258)) to ptr)",
        "  %a = load volatile {i32, ptr addrspace(4)}, ptr undef\n  store volatile {i32, ptr addrspace(4)} %a, ptr "
        "undef"}) {
    EXPECT_THAT(specialised("", access), HasSubstr("kernel 'f' uses an address space that Metal does not have"));
  }
  EXPECT_THAT(specialised("@v = internal addrspace(257) global i32 0", "  store volatile i32 1, ptr addrspace(257) @v"),
              HasSubstr("uses an address space that Metal does not have"));
  EXPECT_THAT(specialised("@g = internal global i32 0\n@h = alias i32, ptr @g", "  store volatile i32 1, ptr @h"),
              HasSubstr("'h', which is another name of something"));
}

TEST(Messages, HoldNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[31m\tb\n\x7f\r"), "a\\x1B[31m\tb\n\\x7F\\x0D");
  EXPECT_EQ(printable("\xff\xc3\xa4\xc2\x9b\xe2\x80\xae\xf0\x9f\x98\x80"), "\\xFF\xc3\xa4\\x9B\\u202E\xf0\x9f\x98\x80");
  const std::string log = log_of("#line 1 \"\x1b[31m\"\nkernel void f(device int* x) { x[0] = \"\x1b]0;x\x07\"; }");
  EXPECT_EQ(log.find('\x1b'), std::string::npos) << log;
  EXPECT_THAT(log, HasSubstr("\\x1B[31m:1:"));
  EXPECT_EQ(std::string(Error(ErrorCode::internal, "\x1b").what()), "\\x1B");
}

TEST(Messages, AreBounded) {
  std::string source = "kernel void f(device int* x) {}\n";
  for (int i = 0; i < 20000; ++i) source += "#warning " + std::string(60, 'w') + "\n";
  const std::string log = log_of(source);
  EXPECT_LT(log.size(), std::size_t{300} << 10);
  EXPECT_THAT(log, HasSubstr("more messages are left out"));
}

}  // namespace host_words_test
}  // namespace metalloid
