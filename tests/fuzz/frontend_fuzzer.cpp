// Feeds mutated Metal sources to the compiler. A compile error is a fine answer; an abort, a crash, a leak or
// an exception of another type is a finding. Run by `make test` for a short while and by `make fuzz` for longer.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "metalloid/metalloid.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// Random bytes rarely pass the lexer: most mutations put a piece of Metal somewhere.
constexpr std::array<std::string_view, 48> pieces = {"kernel void f() {}",
                                                     "[[kernel]] ",
                                                     "device ",
                                                     "threadgroup ",
                                                     "constant ",
                                                     "thread ",
                                                     "float4 ",
                                                     "half ",
                                                     "bfloat ",
                                                     "uint3 ",
                                                     "packed_float3 ",
                                                     "float4x4 ",
                                                     "atomic_uint ",
                                                     "template <typename T> ",
                                                     "[[buffer(0)]]",
                                                     "[[buffer(31)]]",
                                                     "[[buffer(-1)]]",
                                                     "[[thread_position_in_grid]]",
                                                     "[[threadgroup(0)]]",
                                                     "[[function_constant(0)]]",
                                                     "[[host_name(\"g\")]]",
                                                     "[[texture(0)]]",
                                                     "[[max_total_threads_per_threadgroup(64)]]",
                                                     "vertex ",
                                                     "fragment ",
                                                     "simd_sum(x)",
                                                     "threadgroup_barrier(mem_flags::mem_threadgroup);",
                                                     "atomic_fetch_add_explicit(p, 1u, ",
                                                     "metal::",
                                                     "#include <metal_stdlib>\n",
                                                     "using namespace metal;\n",
                                                     "#pragma METAL fp math_mode(safe)\n",
                                                     "struct S { ",
                                                     "return ",
                                                     "for (uint i = 0; i < n; ++i) ",
                                                     "if constexpr (",
                                                     "[&](auto v) { ",
                                                     "} ",
                                                     "{ ",
                                                     "( ",
                                                     ") ",
                                                     "< ",
                                                     "> ",
                                                     "*",
                                                     "&",
                                                     ".xyzw",
                                                     "1.0h",
                                                     "as_type<uint>("};

// Crashes of the compiler that its guard turned into an error. Clang has some of its own on hostile input, so they
// are counted; METALLOID_FUZZ_STRICT=1 makes each a finding, for mending them.
std::size_t contained_crashes = 0;

void compile(std::string_view source) {
  try {
    metalloid::Device::named("reference").make_library(source);
  } catch (const metalloid::Error& error) {
    if (error.code() != metalloid::ErrorCode::internal) return;
    ++contained_crashes;
    if (std::getenv("METALLOID_FUZZ_STRICT") != nullptr) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Nothing that is fed here is worth keeping: unless there is a folder for it, the cache's cannot be made.
  setenv("METALLOID_CACHE_DIR", "/dev/null/no-cache", 0);
  setenv("METALLOID_COMPILE_IN_PROCESS", "1", 1);
  std::atexit([] { std::fprintf(stderr, "contained crashes: %zu\n", contained_crashes); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  compile({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand generator(seed);
  auto below = [&](std::size_t bound) { return bound == 0 ? 0 : generator() % bound; };
  std::string text(reinterpret_cast<const char*>(data), size);
  switch (below(5)) {
    case 0: return LLVMFuzzerMutate(data, size, max_size);
    case 1: text.resize(below(text.size() + 1)); break;  // cut off
    case 2: text.insert(below(text.size() + 1), pieces[below(pieces.size())]); break;
    case 3: {  // delete a stretch
      const std::size_t start = below(text.size() + 1);
      text.erase(start, below(40));
      break;
    }
    default: {  // repeat a stretch
      const std::size_t start = below(text.size() + 1);
      const std::string stretch = text.substr(start, below(80));
      text.insert(below(text.size() + 1), stretch);
    }
  }
  const std::size_t length = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), length);
  return length;
}
