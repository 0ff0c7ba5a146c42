// Sources that instantiate many kernels: code comes when a kernel is asked for, and what is said of kernels stays
// right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/session/prelude.h"
#include "metalloid/emit.h"
#include "metalloid/library_outline.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace kernels_on_demand_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 120 instantiations and one plain kernel. `body` stands in the template.
std::string source_with(const std::string& body) {
  std::string text = R"(
#include <metal_stdlib>
using namespace metal;
constant int offset [[function_constant(0)]];
uint3 position [[thread_position_in_grid]];
device float* weights [[buffer(1)]];
template <typename T> T helper(T x) { return x + T(weights[position.x]); }
template <typename T, int N> [[kernel]] void fill(device T* out [[buffer(0)]]) {
  threadgroup T shared[N];
  shared[0] = T(N);
)" + body + R"(
  out[position.x] = helper(shared[0]) + T(offset);
}
kernel void plain(device float* out [[buffer(0)]]) { out[0] = 7; }
)";
  for (int i = 1; i <= 120; ++i) {
    const std::string number = std::to_string(i);
    text += "template [[host_name(\"fill_" + number + "\")]] [[kernel]] void fill<float, " + number +
            ">(device float* out [[buffer(0)]]);\n";
  }
  return text;
}

Library library_of(const std::string& marker, const std::string& body = "") {
  return Device::cpu().make_library("// " + marker + source_with(body));
}

float compute(const Kernel& kernel) {
  Buffer out(16), bias(16);
  bias.as<float>()[0] = 0.5f;
  Dispatch dispatch;
  dispatch.buffer(0, out).threads({1}, {1});
  if (kernel.info().arguments.size() > 1) dispatch.buffer(1, bias);
  run(kernel, dispatch);
  return out.as<float>()[0];
}

TEST(KernelsOnDemand, EveryKernelComputes) {
  const Library library = library_of("computes");
  EXPECT_EQ(library.kernel_names().size(), 121u);
  const FunctionConstants constants = FunctionConstants().set("offset", std::int64_t{1000});
  for (int i : {120, 1, 2, 60, 61, 119, 3, 90, 33, 77}) {
    EXPECT_EQ(compute(library.kernel("fill_" + std::to_string(i), constants)), 1000.5f + static_cast<float>(i)) << i;
  }
}

// The first kernel's code is of a source read without the other instantiations.
TEST(KernelsOnDemand, TheFirstKernelMayBeAnyOfThem) {
  const std::string more =
      "template [[host_name(\"in\" \"_two\")]] [[kernel]] void fill<float, 500>(device float* out [[buffer(0)]]);\n"
      "template [[kernel]] [[host_name(\"kernel_first\")]] void fill<float, 501>(device float* out [[buffer(0)]]);\n"
      "template [[host_name(\"as_word\")]] kernel void fill<float, 502>(device float* out [[buffer(0)]]);\n"
      "template [[host_name(\"by_type\")]] [[kernel]] decltype(fill<float, 503>) fill<float, 503>;\n"
      "template [[host_name(\"once\")]] [[kernel]] decltype(fill<float, 504>) fill<float, 504>;\n"
      "template [[host_name(\"again\")]] [[kernel]] decltype(fill<float, 504>) fill<float, 504>;\n"
      "kernel void behind(device float* out [[buffer(0)]]) { out[position.x] = 505 + weights[position.x]; }\n";
  const std::pair<const char*, float> kernels[] = {{"in_two", 500.5f},  {"kernel_first", 501.5f}, {"as_word", 502.5f},
                                                   {"by_type", 503.5f}, {"once", 504.5f},         {"again", 504.5f},
                                                   {"behind", 505.5f},  {"fill_120", 120.5f}};
  for (const auto& [name, expected] : kernels) {
    const Library library = Device::cpu().make_library("// " + std::string(name) + source_with("") + more);
    EXPECT_EQ(compute(library.kernel(name, FunctionConstants().set(0, std::int64_t{0}))), expected) << name;
    EXPECT_EQ(compute(library.kernel("fill_7", FunctionConstants().set(0, std::int64_t{0}))), 7.5f) << name;
    EXPECT_EQ(library.kernel_names().size(), 128u);
  }
}

// What a kernel needs is found by names: in other scopes, by overloads, specialisations, aliases, operators, macros.
TEST(KernelsOnDemand, TheFirstKernelIsReadWithWhatItNeeds) {
  const std::string more = R"(
#define STEP(name, amount) static inline float name(float x) { return x + amount; }
STEP(add_one, 1) STEP(add_two, 2)
namespace outer { namespace inner {
  struct Pair { float left, right; Pair(float l, float r); float sum() const thread; };
  inline Pair::Pair(float l, float r) : left{l}, right(r) {}
  inline float Pair::sum() const thread { return left + right; }
  inline Pair operator*(Pair a, float b) { return Pair(a.left * b, a.right * b); }
  template <typename T> struct Factor { static constant constexpr float value = 1; };
  template <> struct Factor<half> { static constant constexpr float value = 10; };
  template <typename T> using factor_of = Factor<T>;
} using namespace inner; }
typedef struct Tagged { float x; } tagged_t;
constant struct Only { float x; } only = {100};
constant constexpr float table[2] = {3, 4};
enum Numbers { three = 3 };
float weigh(float x);
float weigh(int x) { return -1; }
static_assert(sizeof(tagged_t) == 4, "size");
template <typename T> float convert(T x) { return float(x); }
template <> float convert<short>(short x) { return -float(x); }
constexpr constant auto twice = [](float x) { return 2 * x; };
float not_wanted() { return table[1]; }
struct Walk { thread float* first; thread float* last; };
thread float* begin(Walk walk) { return walk.first; }
thread float* end(Walk walk) { return walk.last; }
float later(float x);
extern "C" { float weigh_again(float x) { return add_one(x); } }
float weigh(float x) { return weigh_again(x); }
namespace outer {
kernel void scoped(device float* out [[buffer(0)]]) {
  Pair pair = Pair(1, 2) * factor_of<half>::value;  // 30 in all
  tagged_t tagged = {pair.sum()};
  Only other = only;  // 100
  float values[2] = {1000, 2000};
  float sum = 0;
  for (float value : Walk{values, values + 2}) sum += value;
  out[0] = tagged.x + other.x + sum + table[0] + float(three) + weigh(1.0f) + convert(short(1)) + later(0);
}
}
float later(float x) { return twice(x) + 20000; }
kernel void unlike(device float* out [[buffer(0)]]) { out[0] = not_wanted(); }
)";
  const Library library = Device::cpu().make_library("// needs" + source_with("") + more);
  EXPECT_EQ(compute(library.kernel("outer::scoped")), 30 + 100 + 3000 + 3 + 3 + 2 - 1 + 20000);
  EXPECT_EQ(compute(library.kernel("unlike")), 4);
  EXPECT_EQ(compute(library.kernel("fill_9", FunctionConstants().set(0, std::int64_t{0}))), 9.5f);

  const std::string source = source_with("") + more, prelude = frontend::make_prelude({});
  const auto kernels_read = [&](const char* name, std::uint32_t following) {
    std::vector<std::string> names;
    const frontend::KernelSelection selection{frontend::KernelSelection::Kind::some, name, following};
    for (const KernelInfo& kernel : frontend::compile(source, {}, prelude, selection).library.info.kernels) {
      EXPECT_NE(kernel.symbol, "") << kernel.name;
      names.push_back(kernel.name);
    }
    return names;
  };
  EXPECT_THAT(kernels_read("outer::scoped", 0), ElementsAre("outer::scoped"));
  EXPECT_THAT(kernels_read("unlike", 2), ElementsAre("plain", "fill_1", "unlike"));
  EXPECT_THAT(kernels_read("fill_7", 1), ElementsAre("fill_7", "fill_8"));
}

// Kernels that are written out, each with many functions of templates.
std::string source_with_deep_kernels(const std::string& body) {
  std::string text =
      "template <int K, int N> struct Chain { static float sum(float x) { return Chain<K, N - 1>::sum(x) + K; } };\n"
      "template <int K> struct Chain<K, 0> { static float sum(float x) { " +
      body +
      " return x; } };\n"
      "template <int K> static float start(float x) { return Chain<K, 50>::sum(x); }\n"
      "namespace { struct Local {}; template <typename T> float none(T) { return 0; } }\n";
  for (int k = 1; k <= 20; ++k) {
    const std::string number = std::to_string(k);
    text += "kernel void deep_" + number + "(device float* out [[buffer(0)]]) { out[0] = start<" + number +
            ">(0.5f) + none(Local()); }\n";
  }
  return text;
}

TEST(KernelsOnDemand, KernelsThatNeedMuchAreMadeOneByOne) {
  const Library library = Device::cpu().make_library("// deep\n" + source_with_deep_kernels(""));
  EXPECT_EQ(library.kernel_names().size(), 20u);
  EXPECT_EQ(library.warnings(), "");
  for (int k : {7, 20, 1, 2, 13}) {
    EXPECT_EQ(compute(library.kernel("deep_" + std::to_string(k))), 0.5f + 50.0f * static_cast<float>(k));
  }
  EXPECT_EQ(library.info().kernels.size(), 20u);
}

TEST(KernelsOnDemand, ErrorsInWhatKernelsNeedAreSaidWhenTheyAreMade) {
  const Library library = Device::cpu().make_library(
      "// deep and broken\n" + source_with_deep_kernels("static_assert(K != 19, \"not nineteen\");"));
  EXPECT_EQ(compute(library.kernel("deep_3")), 150.5f);
  for (const auto& ask :
       std::vector<std::function<void()>>{[&] { library.kernel("deep_19"); }, [&] { library.info(); }}) {
    try {
      ask();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_error);
      EXPECT_THAT(error.what(), HasSubstr("not nineteen"));
    }
  }
  EXPECT_THROW(Device::cpu().make_library(source_with_deep_kernels("") + "kernel void f() { nothing; }"), Error);
}

TEST(KernelsOnDemand, WhatIsSaidOfKernelsIsComplete) {
  const Library library = library_of("info");
  const KernelInfo alone = library.kernel("fill_100", FunctionConstants().set(0, std::int64_t{1})).info();
  EXPECT_EQ(alone.static_threadgroup_memory, 400u);
  const auto check = [](const KernelInfo& kernel) {
    EXPECT_EQ(kernel.name, "fill_100");
    EXPECT_EQ(kernel.static_threadgroup_memory, 400u);
    ASSERT_EQ(kernel.arguments.size(), 3u);  // with those at program scope
    EXPECT_THAT(kernel.function_constants, ElementsAre("offset"));
  };
  EXPECT_EQ(alone.arguments.size(), 3u);
  EXPECT_EQ(function_constants_of(library).size(), 1u);
  for (const KernelInfo& kernel : library.info().kernels) {
    if (kernel.name == "fill_100") check(kernel);
  }
  EXPECT_EQ(library.info().kernels.size(), 121u);
}

TEST(KernelsOnDemand, PlainKernelsDoNotWaitForTheOthers) {
  const Library library = library_of("plain", "T broken = out->nothing;\n");
  Buffer out(16);
  run(library.kernel("plain"), Dispatch().buffer(0, out).threads({1}, {1}));
  EXPECT_EQ(out.as<float>()[0], 7);
  for (const auto& ask : std::vector<std::function<void()>>{
           [&] { library.kernel("fill_5", FunctionConstants().set(0, std::int64_t{1})); }, [&] { library.info(); }}) {
    try {
      ask();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_error);
      EXPECT_THAT(error.what(), HasSubstr("nothing"));
    }
  }
}

// Of instantiations a library reads the names alone.
TEST(KernelsOnDemand, InstantiationsAreReadWhenTheyAreAskedFor) {
  const auto instantiation = [](const std::string& name, const std::string& kernel) {
    return "template [[host_name(\"" + name + "\")]] [[kernel]] decltype(" + kernel + ") " + kernel + ";\n";
  };
  const std::string more = "template <typename T> [[kernel]] void draw(texture2d<T> image [[texture(0)]]) {}\n" +
                           instantiation("draws", "draw<float>") +
                           "kernel void last(device float* out [[buffer(0)]]) { out[0] = 9; }\n";
  const Library library = Device::cpu().make_library("// names\n" + source_with("") + more);
  const std::vector<std::string> names = library.kernel_names();
  ASSERT_EQ(names.size(), 123u);
  EXPECT_EQ(names.front(), "plain");
  EXPECT_EQ(names[1], "fill_1");
  EXPECT_EQ(names.back(), "last");
  const auto failure_of = [](const Library& asked, const char* kernel) {
    try {
      asked.kernel(kernel, FunctionConstants().set(0, std::int64_t{0}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(failure_of(library, "fill_7"), "");
  EXPECT_THAT(failure_of(library, "draws"), HasSubstr("texture"));
  EXPECT_THAT(failure_of(library, "nobody"), HasSubstr("no kernel is named 'nobody'"));
  const Library faulty =
      Device::cpu().make_library("// faulty\n" + source_with("") + instantiation("broken", "fill<float, unknown>"));
  EXPECT_EQ(failure_of(faulty, "fill_8"), "");
  EXPECT_THAT(failure_of(faulty, "broken"), HasSubstr("undeclared identifier 'unknown'"));
  EXPECT_THROW(faulty.info(), Error);
  EXPECT_THROW(Device::cpu().make_library(source_with("") + instantiation("plain", "fill<float, 500>")), Error);
  EXPECT_THROW(Device::cpu().make_library(source_with("") + instantiation("fill_9", "fill<float, 500>")), Error);
}

TEST(KernelsOnDemand, AHeaderThatChangedIsSaid) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "metalloid_changed_header";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* value) { std::ofstream(folder / "factor.h") << "#define FACTOR " << value; };
  write("1");
  CompileOptions options;
  options.include_directories = {folder};
  const Library library =
      Device::cpu().make_library("#include \"factor.h\"\n" + source_with("shared[0] *= FACTOR;"), options);
  EXPECT_EQ(compute(library.kernel("fill_3", FunctionConstants().set(0, std::int64_t{1}))), 4.5f);
  write("20");
  try {
    library.kernel("fill_90", FunctionConstants().set(0, std::int64_t{1}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error);
    EXPECT_THAT(error.what(), HasSubstr("has changed since the library was made"));
    EXPECT_THAT(error.what(), HasSubstr("make the library again"));
  }
  EXPECT_EQ(compute(library.kernel("fill_3", FunctionConstants().set(0, std::int64_t{1}))), 4.5f);
}

TEST(KernelsOnDemand, FewInstantiationsAreCheckedAtOnce) {
  const std::string source =
      "template <typename T> [[kernel]] void f(device T* x) { x->nothing = 1; }\n"
      "template [[host_name(\"a\")]] [[kernel]] void f<float>(device float*);\n";
  EXPECT_THROW(Device::cpu().make_library(source), Error);
}

TEST(KernelsOnDemand, TheWholeLibraryCanBePrinted) {
  const std::string text = emit_library(library_of("printed"));
  EXPECT_THAT(text, HasSubstr("Li120E"));
  EXPECT_THAT(text, HasSubstr("plain"));
  EXPECT_THAT(emit(library_of("printed"), "fill_3", Emit::ir, FunctionConstants().set(0, std::int64_t{1})),
              Not(HasSubstr("Li120E")));
}

}  // namespace kernels_on_demand_test
}  // namespace metalloid
