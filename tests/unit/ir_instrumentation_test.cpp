// The place for instrumentation in ir::specialise: what it sees, and what becomes of what it adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ir/assemble.h"
#include "ir/specialise.h"
#include "metalloid/error.h"
#include "runtime/compile/compile_jobs.h"

namespace metalloid {
namespace ir_instrumentation_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* access_name = "metalloid.test.access";

struct Access {
  bool is_store;
  unsigned line;
  friend bool operator==(const Access&, const Access&) = default;
  friend void PrintTo(const Access& access, std::ostream* out) {
    *out << (access.is_store ? "store" : "load") << " in line " << access.line;
  }
};

// What an instrumentation saw, and how many of its calls the specialised kernel has.
struct Result {
  std::vector<Access> named;  // of device, constant and threadgroup memory
  std::size_t seen = 0, left = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// "!dbg !12" is line 7 if "!12 = !DILocation(line: 7" is in the text.
unsigned source_line(const std::string& instruction, const std::string& text) {
  std::smatch place, location;
  if (!std::regex_search(instruction, place, std::regex("!dbg (![0-9]+)"))) return 0;
  std::regex_search(text, location, std::regex("\n" + place[1].str() + " = !DILocation\\(line: ([0-9]+)"));
  return static_cast<unsigned>(std::stoul(location[1].str()));
}

// A call of a function without a body before each load and store. All calls are alike, and so easily merged.
std::string add_calls(const std::string& text, Result& result) {
  std::string changed;
  for (const std::string& line : lines_of(text)) {
    const bool is_store = line.starts_with("  store ");
    if (is_store || line.find(" = load ") != std::string::npos) {
      ++result.seen;
      changed += std::string("  call void @") + access_name + "()";
      std::smatch place;
      if (std::regex_search(line, place, std::regex(", !dbg ![0-9]+"))) changed += place.str();
      changed += "\n";
      if (std::regex_search(line, std::regex("ptr addrspace\\([0-9]\\) [%@][^,]*, align"))) {
        result.named.push_back({is_store, source_line(line, text)});
      }
    }
    changed += line + "\n";
  }
  return changed + "declare void @" + access_name + "()\n";
}

ir::Instrumentation before_each_access(Result& result) {
  const auto run = [&result](ir::KernelModule& kernel) {
    ir::rewrite(kernel, [&result](const std::string& text) { return add_calls(text, result); });
  };
  return {.name = "accesses", .run = run, .operations = {access_name}};
}

// The IR that an engine gets.
std::string instrumented(const std::string& source, ir::Instrumentation instrumentation,
                         const FunctionConstants& constants = {}) {
  const auto compiled =
      runtime::compile_library("#include <metal_stdlib>\nusing namespace metal;\n" + source, {}, {}).library;
  return ir::print_specialised(compiled.bitcode, compiled.info, compiled.info.kernels.at(0), constants,
                               {.instrumentation = std::move(instrumentation)});
}

Result watch(const std::string& source, const FunctionConstants& constants = {}) {
  Result result;
  for (const std::string& line : lines_of(instrumented(source, before_each_access(result), constants))) {
    result.left += line.find(std::string("call void @") + access_name) != std::string::npos;
  }
  return result;
}

Access load(unsigned line) { return {false, line}; }
Access store(unsigned line) { return {true, line}; }

TEST(Instrumentation, SeesEachAccessOfTheSource) {
  const Result result =
      watch(R"(kernel void test(device float* out, const device float* in, uint i [[thread_position_in_grid]]) {
  float a = in[i];
  float b = in[i];
  out[i] = 1.0f;
  out[i] = a + b;
  if (i < 7) {
    out[9] = in[5];
  } else {
    out[9] = in[5];
  }
  out[20] = 0.0f;
  out[21] = 0.0f;
})");
  EXPECT_THAT(result.named, ElementsAre(load(4), load(5), store(6), store(7), load(9), store(9), load(11), store(11),
                                        store(13), store(14)));
  EXPECT_EQ(result.left, result.seen) << "no call was merged or deleted";
}

TEST(Instrumentation, SeesVariablesOfTheThread) {
  const Result result = watch("kernel void test(device float* out) { float x; x = 1; x = 2; out[0] = x; }");
  EXPECT_EQ(result.named.size(), 1u);
  EXPECT_GE(result.seen, 4u) << "three of x, one of out, and those of parameters";
  EXPECT_EQ(result.left, result.seen);
}

TEST(Instrumentation, SeesFunctionsOnceAndItsCallsWhereverTheyAreInlined) {
  const Result result = watch(R"(float twice(const device float* x) { return *x + *x; }
kernel void test(device float* out) { out[0] = twice(out) + twice(out + 1); })");
  EXPECT_THAT(result.named, ::testing::UnorderedElementsAre(load(3), load(3), store(4)));
  EXPECT_GT(result.left, result.seen);
}

// Dead branches are found on a copy: those that live keep all their accesses.
TEST(Instrumentation, ComesBehindFunctionConstantsWhichChangeNothingElse) {
  const std::string source = R"(constant bool wanted [[function_constant(0)]];
constant int size [[function_constant(1)]];
constant int factor = is_function_constant_defined(size) ? size : 3;
kernel void test(device float* out, const device float* in) {
  if (is_function_constant_defined(wanted) && wanted) {
    out[5] = in[9];
  }
  float a = in[0], b = in[0];
  out[0] = 1.0f;
  out[0] = (a + b) * 2.0f;
})";
  const Result without = watch(source);
  EXPECT_THAT(without.named, ElementsAre(load(10), load(10), store(11), store(12)));
  EXPECT_EQ(without.left, without.seen);
}

TEST(Instrumentation, ComesBehindBranchesWithTexturesWhichAreFoundDeadThroughCalls) {
  const std::string source = R"(constant bool looks [[function_constant(0)]];
struct Scene { texture2d<float> image [[id(0)]]; };
float look(constant Scene& scene, bool wanted, device float* x) {
  if (wanted) {
    x[7] = x[7] + 1.0f;
    return scene.image.read(uint2(0)).x;
  }
  x[1] = 1.0f;
  x[1] = 2.0f;
  return x[2] + x[2];
}
kernel void test(constant Scene& scene, device float* x) { x[0] = look(scene, looks, x); })";
  const Result result = watch(source, FunctionConstants().set("looks", false));
  EXPECT_THAT(result.named,
              ::testing::UnorderedElementsAre(store(10), store(11), load(12), load(12), store(14), load(14)))
      << "the last is of the constant";
  EXPECT_EQ(result.left, result.seen);
}

TEST(Instrumentation, BringsItsOwnOperationsAndNobodyElseHasThem) {
  Result result;
  ir::Instrumentation undeclared = before_each_access(result);
  undeclared.operations.clear();
  try {
    instrumented("kernel void test(device float* x) { x[0] = 1; }", undeclared);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("calls 'metalloid.test.access', which has no definition"));
  }
}

// What dead branches read decides nothing, whether the branch is one of the source or of its operators.
TEST(FunctionConstants, AreNotNeededWhereNothingDependsOnThem) {
  for (const char* used : {"is_function_constant_defined(c) ? c : 3", "is_function_constant_defined(c) && c > 2",
                           "is_function_constant_defined(c) & (c > 2)"}) {
    const std::string declared =
        std::string("constant int c [[function_constant(0)]];\nconstant int d = ") + used + ";\n";
    EXPECT_NO_THROW(watch(declared + "kernel void test(device int* x) { x[0] = d; }")) << used;
    EXPECT_NO_THROW(watch(declared + "kernel void test(device int* x) { x[0] = " + used + "; }")) << used;
  }
  EXPECT_THROW(watch("constant int c [[function_constant(0)]];\n"
                     "kernel void test(device int* x) { x[0] = is_function_constant_defined(c) ? 3 : c; }"),
               Error);
}

}  // namespace ir_instrumentation_test
}  // namespace metalloid
