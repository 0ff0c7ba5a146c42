#include "machine_limits.h"

#include <immintrin.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/function_ref.h"

namespace metalloid::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int attempts = 4;
constexpr Seconds attempt_time(0.01);

// So that what leads to them is calculated.
void keep(const float* numbers) { asm volatile("" : : "r"(numbers) : "memory"); }

#define METALLOID_MULTIPLY_ADD(NAME, TARGET, VECTOR, LANES, SET, FMA, STORE)                          \
  __attribute__((target(TARGET))) double NAME() {                                                     \
    constexpr int chains = 12, turns = 2000;                                                          \
    const VECTOR factor = SET(0.999999f), term = SET(1e-6f);                                          \
    VECTOR sums[chains];                                                                              \
    for (int i = 0; i < chains; ++i) sums[i] = SET(1.0f + static_cast<float>(i));                     \
    for (int turn = 0; turn < turns; ++turn) {                                                        \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) sums[i] = FMA(sums[i], factor, term); \
    }                                                                                                 \
    float lanes[LANES];                                                                               \
    for (int i = 1; i < chains; ++i) sums[0] = FMA(sums[i], factor, sums[0]);                         \
    STORE(lanes, sums[0]);                                                                            \
    keep(lanes);                                                                                      \
    return 2.0 * chains * turns * LANES;                                                              \
  }
#define METALLOID_FMA_SSE(A, B, C) _mm_add_ps(_mm_mul_ps(A, B), C)
METALLOID_MULTIPLY_ADD(multiply_add_512, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_storeu_ps)
METALLOID_MULTIPLY_ADD(multiply_add_256, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps)
METALLOID_MULTIPLY_ADD(multiply_add_128, "sse2", __m128, 4, _mm_set1_ps, METALLOID_FMA_SSE, _mm_storeu_ps)
#undef METALLOID_FMA_SSE
#undef METALLOID_MULTIPLY_ADD

#define METALLOID_READ(NAME, TARGET, VECTOR, LANES, ZERO, LOAD, ADD, STORE)                                   \
  __attribute__((target(TARGET))) void NAME(const float* from, std::size_t count) {                           \
    VECTOR sums[4] = {ZERO(), ZERO(), ZERO(), ZERO()};                                                        \
    for (std::size_t i = 0; i + 4 * LANES <= count; i += 4 * LANES) {                                         \
      _Pragma("GCC unroll 4") for (int j = 0; j < 4; ++j) sums[j] = ADD(sums[j], LOAD(from + i + j * LANES)); \
    }                                                                                                         \
    float lanes[LANES];                                                                                       \
    STORE(lanes, ADD(ADD(sums[0], sums[1]), ADD(sums[2], sums[3])));                                          \
    keep(lanes);                                                                                              \
  }
METALLOID_READ(read_512, "avx512f", __m512, 16, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_add_ps, _mm512_storeu_ps)
METALLOID_READ(read_256, "avx2", __m256, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_add_ps, _mm256_storeu_ps)
METALLOID_READ(read_128, "sse2", __m128, 4, _mm_setzero_ps, _mm_loadu_ps, _mm_add_ps, _mm_storeu_ps)
#undef METALLOID_READ

bool has_512() { return __builtin_cpu_supports("avx512f") != 0; }
bool has_256() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

// The rate of all cores together, of which each does `work` again and again: it says how much it did. The best of some
// attempts: whatever else runs on the machine only takes away.
double best_rate(support::function_ref<double(unsigned core)> work) {
  const unsigned cores = core_count();
  double best = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::vector<double> rates(cores);
    std::vector<std::thread> threads;
    std::atomic<unsigned> ready = 0;
    for (unsigned core = 0; core < cores; ++core) {
      threads.emplace_back([&, core] {
        work(core);  // touches its memory
        ready.fetch_add(1);
        while (ready.load() < cores) std::this_thread::yield();
        const auto start = Clock::now();
        double done = 0;
        Seconds taken(0);
        while (taken < attempt_time) {
          done += work(core);
          taken = Clock::now() - start;
        }
        rates[core] = done / taken.count();
      });
    }
    double all = 0;
    for (unsigned core = 0; core < cores; ++core) {
      threads[core].join();
      all += rates[core];
    }
    best = std::max(best, all);
  }
  return best;
}

}  // namespace

unsigned core_count() { return std::max(1U, std::thread::hardware_concurrency()); }

void MachineLimits::measure_flops() {
  double (*const multiply_add)() = has_512() ? multiply_add_512 : has_256() ? multiply_add_256 : multiply_add_128;
  flops_ = std::max(flops_, best_rate([&](unsigned) { return multiply_add(); }));
}

void MachineLimits::measure_bandwidth(std::size_t bytes) {
  constexpr std::size_t page = 4096, largest = std::size_t{256} << 20;
  const std::size_t smallest = 8 * page * core_count();
  void (*const read)(const float*, std::size_t) = has_512() ? read_512 : has_256() ? read_256 : read_128;
  Bandwidth& result = bandwidths_[bytes];
  const std::size_t part = std::clamp(bytes, smallest, largest) / core_count() / (2 * page) * (2 * page);
  result.bytes = part * core_count();
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<std::byte, Free>> parts;
  for (unsigned core = 0; core < core_count(); ++core) {
    parts.emplace_back(static_cast<std::byte*>(std::aligned_alloc(page, part)));
    if (!parts.back()) throw std::bad_alloc();
    std::memset(parts.back().get(), 1, part);  // or all reads would go to the one page of zeros
  }
  const double copy = best_rate([&](unsigned core) {
    std::byte* memory = parts[core].get();
    std::memcpy(memory + part / 2, memory, part / 2);
    return static_cast<double>(part);
  });
  const double sum = best_rate([&](unsigned core) {
    read(reinterpret_cast<const float*>(parts[core].get()), part / sizeof(float));
    return static_cast<double>(part);
  });
  result.copy = std::max(result.copy, copy);
  result.read = std::max(result.read, sum);
}

OtherLoad::OtherLoad() : start_(now()) {}

OtherLoad::Times OtherLoad::now() {
  Times times;
  times.wall = Seconds(Clock::now().time_since_epoch()).count();
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  std::array<double, 8> ticks{};  // user, nice, system, idle, iowait, irq, softirq, steal
  for (double& each : ticks) file >> each;
  for (std::size_t i = 0; i < ticks.size(); ++i) times.busy += i == 3 || i == 4 ? 0 : ticks[i];
  times.busy /= static_cast<double>(sysconf(_SC_CLK_TCK));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  for (const timeval& each : {usage.ru_utime, usage.ru_stime}) {
    times.own += static_cast<double>(each.tv_sec) + static_cast<double>(each.tv_usec) * 1e-6;
  }
  return times;
}

double OtherLoad::part() const {
  const Times end = now();
  const double others = (end.busy - start_.busy) - (end.own - start_.own);
  return std::clamp(others / ((end.wall - start_.wall) * core_count()), 0.0, 1.0);
}

}  // namespace metalloid::tool
