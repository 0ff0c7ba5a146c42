#include "checker/run/stamps.h"

// Loops that compilers turn into vector code, in forms for what processors have (a form of an `arch` is for that
// maker's alone).
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define METALLOID_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define METALLOID_FOR_EACH_PROCESSOR
#endif

namespace metalloid::checker {
namespace {

enum class Use : std::uint8_t { read, write, change };

// `whole`: how many lanes a whole row has, or 0. Rows whose length compilers know take half the time.
template <Use use, Memory memory, unsigned whole>
[[gnu::always_inline]] inline bool enter_units(const UnitRow row, const Moment at, const Undefined undefined) {
  Stamp* __restrict writers = row.writers;
  Stamp* __restrict readers = row.readers;
  const Stamp first = at.now + static_cast<Stamp>(row.first_lane);
  const unsigned own_lane = row.is_shared() ? 0 : 31;
  std::uint32_t bad = 0;
  for (unsigned i = 0; i < (whole != 0 ? whole : row.count); ++i) {
    const unsigned lane = whole != 0 ? i : i >> row.lane_shift;
    const std::uint32_t takes_part = whole != 0 ? 1 : row.lanes >> lane & 1;
    const Stamp own = first + static_cast<Stamp>(lane & own_lane);
    Stamp writer = writers[i], reader = readers[i];
    if constexpr (use == Use::read) {
      bad |= takes_part & read_unit<memory>(writer, reader, own, at, undefined.read);
      readers[i] = takes_part != 0 ? reader : readers[i];
    } else {
      if constexpr (use == Use::write) {
        bad |= takes_part & write_unit<memory>(writer, reader, own, at);
      } else {
        bad |= takes_part & change_unit<memory>(writer, reader, own, at, undefined);
      }
      writers[i] = takes_part != 0 ? writer : writers[i];
    }
  }
  return bad == 0;
}

template <Use use, Memory memory>
[[gnu::always_inline]] inline bool enter_all(const UnitRow& row, const Moment& at, Undefined undefined) {
  if (row.is_whole(32)) return enter_units<use, memory, 32>(row, at, undefined);
  if (row.is_whole(16)) return enter_units<use, memory, 16>(row, at, undefined);
  return enter_units<use, memory, 0>(row, at, undefined);
}

template <Use use>
[[gnu::always_inline]] inline bool enter(const UnitRow& row, const Moment& at, Memory memory, Undefined undefined) {
  switch (memory) {
    case Memory::local: return enter_all<use, Memory::local>(row, at, undefined);
    case Memory::device: return enter_all<use, Memory::device>(row, at, undefined);
    case Memory::device_unmet: return enter_all<use, Memory::device_unmet>(row, at, undefined);
  }
  return false;
}

template <bool is_read>
[[gnu::always_inline]] inline bool compare_all(const UnitStamps one, const UnitStamps other, unsigned count) {
  std::uint32_t bad = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Stamp reader = is_read ? one.readers[i] : 0, other_reader = is_read ? other.readers[i] : 0;
    bad |= is_shared_wrongly(one.writers[i], reader, one.dispatch, other.writers[i], other_reader, other.dispatch);
  }
  return bad == 0;
}

}  // namespace

METALLOID_FOR_EACH_PROCESSOR
bool read_row(const UnitRow& row, const Moment& at, Memory memory, Stamp first_written) {
  return enter<Use::read>(row, at, memory, {.read = first_written});
}

METALLOID_FOR_EACH_PROCESSOR
bool write_row(const UnitRow& row, const Moment& at, Memory memory) { return enter<Use::write>(row, at, memory, {}); }

METALLOID_FOR_EACH_PROCESSOR
bool change_row(const UnitRow& row, const Moment& at, Memory memory, Undefined undefined) {
  return enter<Use::change>(row, at, memory, undefined);
}

METALLOID_FOR_EACH_PROCESSOR
bool is_shared_well(const UnitStamps& one, const UnitStamps& other, unsigned count, bool is_read) {
  return is_read ? compare_all<true>(one, other, count) : compare_all<false>(one, other, count);
}

}  // namespace metalloid::checker
