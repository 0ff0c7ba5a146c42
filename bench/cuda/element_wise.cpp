// Kernels with an element per thread on a GPU: how much memory they move in a second.
//
//   metalloid_element_wise [--device cuda] [--bytes N] [--group N] [--offset BYTES] [--guard]
//
// With --offset buffers are bound from that byte on, as a view of another array is. --guard: `if (i >= n) return;`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/metalloid.h"

namespace {

constexpr std::string_view source = R"(
#include <metal_stdlib>
using namespace metal;

#ifdef GUARD
#define PLACE constant uint& n [[buffer(4)]], uint i [[thread_position_in_grid]]
#define LEAVE if (i >= n) return
#else
#define PLACE uint i [[thread_position_in_grid]]
#define LEAVE
#endif

kernel void copy(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], PLACE) {
  LEAVE;
  out[i] = x[i];
}
kernel void saxpy(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], constant float& a [[buffer(3)]],
                  PLACE) {
  LEAVE;
  out[i] = T(a) * x[i] + out[i];
}
kernel void add(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], device const T* y [[buffer(2)]],
                PLACE) {
  LEAVE;
  out[i] = x[i] + y[i];
}
kernel void silu(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], PLACE) {
  LEAVE;
  const float v = float(x[i]);
  out[i] = T(v / (1 + exp(-v)));
}
kernel void gelu(device T* out [[buffer(0)]], device const T* x [[buffer(1)]], PLACE) {
  LEAVE;
  const float v = float(x[i]);
  out[i] = T(0.5f * v * (1 + tanh(0.7978845608f * (v + 0.044715f * v * v * v))));
}
kernel void copy4(device vec<T, 4>* out [[buffer(0)]], device const vec<T, 4>* x [[buffer(1)]], PLACE) {
  LEAVE;
  out[i] = x[i];
}
)";

struct Case {
  const char* name;
  unsigned arrays;  // read or written, each once
  unsigned width = 1;
};
constexpr Case cases[] = {{"copy", 2}, {"saxpy", 3}, {"add", 3}, {"silu", 2}, {"gelu", 2}, {"copy4", 2, 4}};

struct Settings {
  std::string device = "cuda";
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::uint32_t group = 256;
  std::size_t offset = 0;
  bool has_guard = false;
};

Settings settings_of(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--guard") {
      settings.has_guard = true;
      continue;
    }
    if (++i == count) {
      fmt::print(stderr, "{} needs a value\n", name);
      std::exit(2);
    }
    if (name == "--device") {
      settings.device = arguments[i];
    } else if (name == "--bytes") {
      settings.bytes = std::strtoull(arguments[i], nullptr, 0);
    } else if (name == "--group") {
      settings.group = static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 0));
    } else if (name == "--offset") {
      settings.offset = std::strtoull(arguments[i], nullptr, 0);
    } else {
      fmt::print(stderr, "what is {}?\n", name);
      std::exit(2);
    }
  }
  return settings;
}

// The shortest time of a dispatch, of some rounds of several.
double seconds_of(metalloid::Stream& stream, const metalloid::Kernel& kernel, const metalloid::Dispatch& dispatch) {
  using Clock = std::chrono::steady_clock;
  constexpr int rounds = 7, dispatches = 10;
  double best = 1e9;
  for (int round = 0; round <= rounds; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < dispatches; ++i) stream.dispatch(kernel, dispatch);
    stream.synchronize();
    const double took = std::chrono::duration<double>(Clock::now() - begin).count() / dispatches;
    if (round > 0) best = std::min(best, took);
  }
  return best;
}

void measure(const Settings& settings, const char* type, std::uint64_t element_bytes) {
  using namespace metalloid;
  const Device device = Device::named(settings.device);
  CompileOptions options;
  options.definitions.emplace_back("T", type);
  if (settings.has_guard) options.definitions.emplace_back("GUARD", "1");
  const Library library = device.make_library(source, options);
  std::vector<Buffer> arrays;
  for (int i = 0; i < 3; ++i) arrays.emplace_back(device, settings.bytes + settings.offset);
  Stream stream(device);
  for (const Case& one : cases) {
    const auto threads = static_cast<std::uint32_t>(settings.bytes / element_bytes / one.width);
    const Kernel kernel = library.kernel(one.name);
    Dispatch dispatch;
    for (std::uint32_t i = 0; i < (one.arrays == 3 && std::string_view(one.name) != "saxpy" ? 3U : 2U); ++i) {
      dispatch.buffer(i, arrays[i], settings.offset);
    }
    if (std::string_view(one.name) == "saxpy") dispatch.value(3, 0.5F);
    if (settings.has_guard) dispatch.value(4, threads);
    dispatch.threads({threads, 1, 1}, {settings.group, 1, 1});
    const double seconds = seconds_of(stream, kernel, dispatch);
    fmt::print("{:5} {:5} {:6.3f} TB/s  {:8.1f} us\n", type, one.name,
               static_cast<double>(settings.bytes * one.arrays) / seconds * 1e-12, seconds * 1e6);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const Settings settings = settings_of(count, arguments);
  try {
    measure(settings, "float", 4);
    measure(settings, "half", 2);
  } catch (const metalloid::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
