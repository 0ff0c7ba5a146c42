// Takes whole kernels to machine code and runs them. Bytes become a kernel (kernel_generator.h) whose constants are
// function constants, constants of the source, and arguments: three ways with one right result. Input that begins as
// text ('#' or '/') is Metal source instead, whose kernels run with memory for every argument; any error but an
// internal one is a fine answer to it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_generator.h"
#include "metalloid/metalloid.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace metalloid;

[[noreturn]] void fail(const std::string& what, const std::string& source) {
  std::fprintf(stderr, "%s\n%s\n", what.c_str(), source.c_str());
  std::abort();
}

enum class Constants { function_constants, in_source, arguments };

std::string literal(std::int64_t value) { return value == -2147483648LL ? "(-2147483647 - 1)" : std::to_string(value); }

std::string source_of(const fuzz::GeneratedKernel& kernel, Constants way) {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  const std::string c3 = "as_type<float>(" + [&] {
    const float value = static_cast<float>(kernel.c3);
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return std::to_string(bits) + "u)";
  }();
  for (int i = 0; i < 3; ++i) {
    const std::string name = "c" + std::to_string(i);
    if (way == Constants::function_constants) {
      text += "constant int " + name + " [[function_constant(" + std::to_string(i) + ")]];\n";
    } else if (way == Constants::in_source) {
      text += "#define " + name + " (" + literal(kernel.constants[i]) + ")\n";
    }
  }
  if (way == Constants::function_constants) text += "constant float c3 [[function_constant(3)]];\n";
  if (way == Constants::in_source) text += "#define c3 " + c3 + "\n";
  if (way == Constants::arguments) {
    // At program scope, where helpers see them.
    text +=
        "struct Values { int c0, c1, c2; float c3; };\nconstant Values& values [[buffer(2)]];\n"
        "#define c0 values.c0\n#define c1 values.c1\n#define c2 values.c2\n#define c3 values.c3\n";
  }
  return text + kernel.text;
}

constexpr std::uint32_t most_threads = 64;

std::vector<std::int32_t> results_of(const fuzz::GeneratedKernel& kernel, Constants way) {
  const std::string source = source_of(kernel, way);
  try {
    CompileOptions options;
    options.math_mode = MathMode::safe;
    const Library library = Device::named("reference").make_library(source, options);
    FunctionConstants constants;
    if (way == Constants::function_constants) {
      for (std::uint32_t i = 0; i < 3; ++i) constants.set(i, kernel.constants[i]);
      constants.set(3, kernel.c3);
    }
    const Kernel compiled = library.kernel("generated", constants);
    Buffer out(most_threads * 4), in((most_threads + 1) * 4);
    std::mt19937 generator(1);  // NOLINT: the same numbers each time
    for (std::int32_t& value : in.as<std::int32_t>()) value = static_cast<std::int32_t>(generator());
    Dispatch dispatch;
    dispatch.buffer(0, out).buffer(1, in);
    if (way == Constants::arguments) {
      struct {
        std::int32_t c[3];
        float c3;
      } values{{static_cast<std::int32_t>(kernel.constants[0]), static_cast<std::int32_t>(kernel.constants[1]),
                static_cast<std::int32_t>(kernel.constants[2])},
               static_cast<float>(kernel.c3)};
      dispatch.value(2, values);
    }
    dispatch.threads({kernel.threads}, {kernel.group}).timeout(std::chrono::seconds(10));
    run(compiled, dispatch);
    const auto all = out.as<std::int32_t>();
    return {all.begin(), all.end()};
  } catch (const Error& error) {
    fail(error.what(), source);
  }
}

void try_generated(const std::uint8_t* data, std::size_t size) {
  const fuzz::GeneratedKernel kernel = fuzz::generate({data, size});
  const auto expected = results_of(kernel, Constants::arguments);
  for (const Constants way : {Constants::function_constants, Constants::in_source}) {
    const auto results = results_of(kernel, way);
    const auto [x, y] = std::ranges::mismatch(expected, results);
    if (x == expected.end()) continue;
    fail("thread " + std::to_string(x - expected.begin()) + ": " + std::to_string(*x) + " with arguments, " +
             std::to_string(*y) + " with these constants",
         source_of(kernel, way));
  }
}

void bind(Dispatch& dispatch, const ArgumentInfo& argument) {
  constexpr std::size_t bytes = std::size_t{1} << 16;
  if (argument.kind == ArgumentKind::threadgroup_memory) {
    dispatch.threadgroup_memory(argument.index, 1024);
  } else if (argument.kind == ArgumentKind::tensor) {
    dispatch.tensor(argument.index, Buffer(bytes), std::vector<std::int64_t>(argument.extents.size(), 4));
  } else {
    dispatch.buffer(argument.index, Buffer(bytes));
  }
}

void try_text(const std::string& source) {
  try {
    CompileOptions options;
    options.language = {4, 0};
    const Library library = Device::named("reference").make_library(source, options);
    for (const KernelInfo& info : library.info().kernels) {
      Dispatch dispatch;
      for (const ArgumentInfo& argument : info.arguments) bind(dispatch, argument);
      dispatch.threads({64}, {32}).timeout(std::chrono::seconds(1));
      FunctionConstants constants;
      for (const std::string& name : info.function_constants) constants.set(name, std::int64_t{1});
      try {
        run(library.kernel(info.name, constants), dispatch);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::internal) fail(error.what(), source);
      }
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) fail(error.what(), source);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("METALLOID_CACHE_DIR", "/dev/null/no-cache", 0);
  setenv("METALLOID_COMPILE_IN_PROCESS", "1", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0 && (data[0] == '#' || data[0] == '/')) {
    try_text({reinterpret_cast<const char*>(data), size});
  } else {
    try_generated(data, size);
  }
  return 0;
}

// Text stays as it is: what mutations make of it belongs to the front end's fuzzer, and a kernel that writes anywhere
// would be taken for a finding.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  if (size != 0 && (data[0] == '#' || data[0] == '/')) size = 0;
  std::minstd_rand generator(seed);
  if (size < 32 || generator() % 8 == 0) {
    size = std::min<std::size_t>(max_size, 32 + generator() % 400);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::uint8_t>(generator() >> 8);
  } else {
    size = LLVMFuzzerMutate(data, size, max_size);
  }
  if (size != 0 && (data[0] == '#' || data[0] == '/')) data[0] = 0;
  return size;
}
