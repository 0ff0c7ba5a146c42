#include "engines/simd/run/wrapped_rows.h"

#include "engines/cpu_shared/run/worker.h"

namespace metalloid::engines::simd {
namespace {

using cpu::ThreadgroupState;

constexpr unsigned lane_count = 32, bit_count = 5;

void check_row(ThreadgroupState* state, std::uint32_t first_thread, const std::int64_t* values, std::uint32_t lanes,
               std::int64_t first, std::int64_t stride, const char* what, const char* access) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    const bool is_beside = values[lane] != first + static_cast<std::int64_t>(lane) * stride;
    if (is_beside && ((lanes >> lane) & 1) != 0) cpu::report_wrapped_row(state, first_thread + lane, what, access);
  }
}

// Whether a lane's own value is what follows from all others that it may be taken from.
bool is_in_runs(unsigned own, const std::int64_t* values, const std::int64_t* growth) {
  std::uint32_t sources = std::uint32_t{1} << own;
  for (unsigned bit = 0; bit < bit_count; ++bit) {
    if (growth[bit] < 0) continue;  // unknown, too
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      const unsigned other = lane ^ (1u << bit);
      if (((sources >> lane) & 1) == 0 || ((sources >> other) & 1) != 0) continue;
      if (growth[bit] != 0 && other < lane) continue;
      if (values[other] != values[lane] + growth[bit]) return false;
      sources |= std::uint32_t{1} << other;
    }
  }
  return true;
}

void check_runs(ThreadgroupState* state, std::uint32_t first_thread, const std::int64_t* values, std::uint32_t lanes,
                const std::int64_t* growth, const char* what, const char* access) {
  for (unsigned lane = 0; lane < lane_count; ++lane) {
    if (((lanes >> lane) & 1) == 0 || is_in_runs(lane, values, growth)) continue;
    cpu::report_wrapped_row(state, first_thread + lane, what, access);
  }
}

}  // namespace

void* wrapped_rows_symbol(std::string_view name) {
  if (name == check_row_name) return reinterpret_cast<void*>(&check_row);
  if (name == check_runs_name) return reinterpret_cast<void*>(&check_runs);
  return nullptr;
}

}  // namespace metalloid::engines::simd
