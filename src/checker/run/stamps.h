// What a screened dispatch remembers of memory: for each unit of 1 to 16 bytes the last write and the reads, as stamps
// of 31 bits that say which threads it was and between which barriers.
//
//   period | simdgroup (6) | turn (turn_bits) | several (1) | lane (5)
//
// A period begins with a threadgroup and behind each barrier that orders the memory; a turn behind each barrier that
// orders it within a simdgroup. `several` is of reads by more lanes than one, and of all atomic changes. Numbers grow,
// so that comparing them with few bounds tells what is ordered.
#pragma once

#include <cstdint>

namespace metalloid::checker {

// Never negative: processors compare signed numbers in vectors.
using Stamp = std::int32_t;
inline constexpr unsigned stamp_bits = 31;

inline constexpr Stamp several_lanes = 1 << 5;
// Of reads by several lanes at once, so that they are not taken for those that several lanes have changed atomically.
inline constexpr Stamp several_readers = several_lanes | 1;
inline constexpr unsigned lane_bits = 6;       // with `several`
inline constexpr unsigned simdgroup_bits = 6;  // simdgroup_many: of several simdgroups
inline constexpr Stamp simdgroup_many = 32;
// Of several threadgroups: less than any stamp of the dispatch's, above its Moment::dispatch.
inline constexpr Stamp threadgroups_many = 1, threadgroups_changed = several_lanes;

enum class Memory : std::uint8_t {
  local,         // of the threadgroup
  device,        // which has no turns
  device_unmet,  // the same, while the threadgroup has not come to a barrier that orders it
};

// What a simdgroup compares stamps with.
struct Moment {
  Stamp dispatch;         // device memory only; below: of an earlier dispatch, which is nothing
  Stamp threadgroup;      // below: of an earlier threadgroup
  Stamp period;           // below: ordered by a barrier
  Stamp simdgroup;        // from here to `now`: ordered by a barrier of the simdgroup
  Stamp now;              // lane 0's
  Stamp simdgroup_end;    // up to here: of this simdgroup, in this period
  Stamp many_simdgroups;  // of this period
};

// Whether what another thread than `own` has stamped is not ordered with what this one does.
template <Memory memory>
[[gnu::always_inline]] inline std::uint32_t is_unordered(Stamp stamp, Stamp own, const Moment& at) {
  std::uint32_t unordered = stamp != own;
  if constexpr (memory == Memory::local) {
    unordered &= (stamp >= at.period) & (std::uint32_t{stamp < at.simdgroup} | (stamp >= at.now));
  } else {
    unordered &= stamp >= at.dispatch;
    if constexpr (memory == Memory::device) unordered &= std::uint32_t{stamp < at.threadgroup} | (stamp >= at.period);
  }
  return unordered;
}

// A plain read. Returns whether it may be wrong.
template <Memory memory>
[[gnu::always_inline]] inline std::uint32_t read_unit(Stamp writer, Stamp& reader, Stamp own, const Moment& at,
                                                      Stamp first_written) {
  const std::uint32_t bad = is_unordered<memory>(writer, own, at) | (writer < first_written);
  const std::uint32_t others = is_unordered<memory>(reader, own, at);
  const std::uint32_t is_near = (reader >= at.simdgroup) & (reader < at.simdgroup_end);
  Stamp many = is_near ? at.now | several_lanes : at.many_simdgroups;
  if constexpr (memory != Memory::local) many = reader < at.threadgroup ? at.dispatch | threadgroups_many : many;
  reader = others ? many : own;
  return bad;
}

// A plain write.
template <Memory memory>
[[gnu::always_inline]] inline std::uint32_t write_unit(Stamp& writer, Stamp reader, Stamp own, const Moment& at) {
  const std::uint32_t bad = is_unordered<memory>(writer, own, at) | is_unordered<memory>(reader, own, at);
  writer = own;
  return bad;
}

// What an atomic access asks of undefined memory: stamps below these are of memory that nobody wrote. One of the two is
// 0.
struct Undefined {
  Stamp read = 0;     // by one that reads, which is wrong
  Stamp written = 0;  // by one that stores: others may come to it before that, and so it counts as plain
};

// Any atomic access.
template <Memory memory>
[[gnu::always_inline]] inline std::uint32_t change_unit(Stamp& writer, Stamp reader, Stamp own, const Moment& at,
                                                        Undefined undefined) {
  constexpr bool is_device = memory != Memory::local;
  const std::uint32_t is_plain = (writer & several_lanes) == 0, is_own = writer == own;
  std::uint32_t bad = is_unordered<memory>(reader, own, at) | (writer < undefined.read);
  bad |= is_plain & is_unordered<memory>(writer, own, at);
  // Other threadgroups would have to be told of the plain write, too.
  if constexpr (is_device) bad |= is_plain & ~is_own & (writer >= at.threadgroup);
  const std::uint32_t is_near = (writer >= at.simdgroup) & (writer < at.simdgroup_end);
  const std::uint32_t is_far = (is_plain ^ 1) & (writer >= at.period) & (is_near ^ 1);
  Stamp changed = is_far ? at.many_simdgroups : at.now | several_lanes;
  if constexpr (is_device) {
    const std::uint32_t is_earlier = (is_plain ^ 1) & (writer >= at.dispatch) & (writer < at.threadgroup);
    changed = is_earlier ? at.dispatch | threadgroups_changed : changed;
  }
  const std::uint32_t is_first = writer < undefined.written;
  writer = is_first | (is_plain & is_own) ? own : changed;  // the plain write says more
  return bad;
}

// Whether what two workers did, of which each ran some of the threadgroups, may be wrong.
[[gnu::always_inline]] inline std::uint32_t is_shared_wrongly(Stamp writer, Stamp reader, Stamp dispatch,
                                                              Stamp other_writer, Stamp other_reader,
                                                              Stamp other_dispatch) {
  const std::uint32_t writes = writer >= dispatch, other_writes = other_writer >= other_dispatch;
  const std::uint32_t reads = reader >= dispatch, other_reads = other_reader >= other_dispatch;
  const std::uint32_t is_any_plain = (writer & other_writer & several_lanes) == 0;
  return (writes & other_writes & is_any_plain) | (writes & other_reads) | (reads & other_writes);
}

// Units side by side, 1 << lane_shift of each lane. `lanes` has a bit for each lane, of which the first is
// `first_lane`; where that is several_readers, each stands for several ones.
struct UnitRow {
  Stamp *writers, *readers;
  unsigned count, lane_shift;
  std::uint32_t lanes, first_lane;

  bool is_shared() const { return first_lane == several_readers; }
  // One unit for each of so many lanes.
  bool is_whole(unsigned length) const {
    return count == length && lane_shift == 0 && lanes == ~std::uint32_t{0} >> (32 - length);
  }
};
// Whether all is well.
bool read_row(const UnitRow& row, const Moment& at, Memory memory, Stamp first_written);
bool write_row(const UnitRow& row, const Moment& at, Memory memory);
bool change_row(const UnitRow& row, const Moment& at, Memory memory, Undefined undefined);  // not shared

// The stamps of one worker, of `count` units.
struct UnitStamps {
  const Stamp *writers, *readers;
  Stamp dispatch;
};
// `is_read`: whether any of them has stamps of readers.
bool is_shared_well(const UnitStamps& one, const UnitStamps& other, unsigned count, bool is_read);

}  // namespace metalloid::checker
