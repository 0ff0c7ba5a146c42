// The order of machine code: chains of multiply-adds take turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace schedule_test {

const char* const source = R"(
  #include <metal_stdlib>
  using namespace metal;
  kernel void gelu(device float4* out, device const float4* in, uint i [[thread_position_in_grid]]) {
    const float4 x = in[i];
    const float4 inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    out[i] = 0.5f * x * (1.0f + precise::tanh(inner));
  })";

bool is_multiply_add(const std::string& line) { return line.starts_with("\tvfmadd") || line.starts_with("\tvfnmadd"); }

// Numbers of the vector registers that an instruction names. The last one is what it writes.
std::vector<std::string> registers(const std::string& line) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = line.find("mm", at)) != std::string::npos; ++at) {
    const std::size_t begin = at + 2, end = line.find_first_not_of("0123456789", begin);
    if (end != begin) found.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return found;
}

struct Count {
  unsigned all = 0, waiting = 0;  // multiply-adds, and those that need what the instruction before them computes
};

Count count(const std::string& assembly) {
  Count result;
  std::istringstream lines(assembly);
  std::string written;
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    const std::vector<std::string> named = registers(line);
    if (is_multiply_add(line)) {
      ++result.all;
      for (const std::string& each : named) {
        if (each != written) continue;
        ++result.waiting;
        break;
      }
    }
    if (line.starts_with("\t") && !line.starts_with("\t.")) written = named.empty() ? "" : named.back();
  }
  return result;
}

#ifdef __x86_64__
TEST(Schedule, ChainsOfFloatsTakeTurns) {
  if (std::getenv("METALLOID_CPU") || !__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "no AVX-512";
  const Library library = Device::named("simd").make_library(source);
  const auto [all, waiting] = count(emit(library, "gelu", Emit::assembly));
  EXPECT_GE(all, 80u);
  EXPECT_LE(waiting * 4, all);
}
#endif

}  // namespace schedule_test
}  // namespace metalloid
