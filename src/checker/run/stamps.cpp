#include "checker/run/stamps.h"

// Loops that compilers turn into vector code, in forms for what processors have.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define METALLOID_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define METALLOID_FOR_EACH_PROCESSOR
#endif

namespace metalloid::checker {
namespace {

// A whole row, whose length compilers know, takes half the time.
template <bool is_device, bool is_whole>
[[gnu::always_inline]] inline bool read_all(const UnitRow row, const Moment at, Stamp first_written) {
  const Stamp* __restrict writers = row.writers;
  Stamp* __restrict readers = row.readers;
  const Stamp first = at.now + row.first_lane;
  const unsigned own_lane = row.is_shared() ? 0 : ~0u;
  std::uint32_t bad = 0;
  for (unsigned i = 0; i < (is_whole ? 32 : row.count); ++i) {
    Stamp reader = readers[i];
    if constexpr (is_whole) {
      bad |= read_unit<is_device>(writers[i], reader, at.now + i, at, first_written);
      readers[i] = reader;
    } else {
      const unsigned lane = i >> row.lane_shift;
      const std::uint32_t takes_part = row.lanes >> lane & 1;
      bad |= takes_part & read_unit<is_device>(writers[i], reader, first + (lane & own_lane), at, first_written);
      readers[i] = takes_part ? reader : readers[i];
    }
  }
  return bad == 0;
}

template <bool is_device, bool is_whole>
[[gnu::always_inline]] inline bool write_all(const UnitRow row, const Moment at) {
  Stamp* __restrict writers = row.writers;
  const Stamp* __restrict readers = row.readers;
  const Stamp first = at.now + row.first_lane;
  std::uint32_t bad = 0;
  for (unsigned i = 0; i < (is_whole ? 32 : row.count); ++i) {
    Stamp writer = writers[i];
    if constexpr (is_whole) {
      bad |= write_unit<is_device>(writer, readers[i], at.now + i, at);
      writers[i] = writer;
    } else {
      const unsigned lane = i >> row.lane_shift;
      const std::uint32_t takes_part = row.lanes >> lane & 1;
      bad |= takes_part & write_unit<is_device>(writer, readers[i], first + lane, at);
      writers[i] = takes_part ? writer : writers[i];
    }
  }
  return bad == 0;
}

}  // namespace

METALLOID_FOR_EACH_PROCESSOR
bool read_row(const UnitRow& row, const Moment& at, bool is_device, Stamp first_written) {
  if (row.is_whole()) {
    return is_device ? read_all<true, true>(row, at, first_written) : read_all<false, true>(row, at, first_written);
  }
  return is_device ? read_all<true, false>(row, at, first_written) : read_all<false, false>(row, at, first_written);
}

METALLOID_FOR_EACH_PROCESSOR
bool write_row(const UnitRow& row, const Moment& at, bool is_device) {
  if (row.is_whole()) return is_device ? write_all<true, true>(row, at) : write_all<false, true>(row, at);
  return is_device ? write_all<true, false>(row, at) : write_all<false, false>(row, at);
}

}  // namespace metalloid::checker
