// What a screened dispatch remembers of memory: for each unit of 1 to 16 bytes the last write and the reads, as stamps
// of 32 bits that say which threads it was and between which barriers.
//
//   period | simdgroup (6) | turn (turn_bits) | several (1) | lane (5)
//
// A period begins with a threadgroup and behind each barrier that orders the memory; a turn behind each barrier that
// orders it within a simdgroup. `several` is of reads by more lanes than one, and of all atomic changes. Numbers grow,
// so that comparing them with few bounds tells what is ordered.
#pragma once

#include <cstdint>

namespace metalloid::checker {

using Stamp = std::uint32_t;

inline constexpr Stamp several_lanes = 1u << 5;
inline constexpr unsigned lane_bits = 6;       // with `several`
inline constexpr unsigned simdgroup_bits = 6;  // simdgroup_many: of several simdgroups
inline constexpr Stamp simdgroup_many = 32;
// Of several threadgroups: less than any stamp, and more than none.
inline constexpr Stamp threadgroups_many = 1, threadgroups_changed = several_lanes;

// What a simdgroup compares stamps with.
struct Moment {
  Stamp threadgroup;      // below: of an earlier threadgroup
  Stamp period;           // below: ordered by a barrier
  Stamp simdgroup;        // from here to `now`: ordered by a barrier of the simdgroup
  Stamp now;              // lane 0's
  Stamp simdgroup_end;    // up to here: of this simdgroup, in this period
  Stamp many_simdgroups;  // of this period
};

// Whether what another thread than `own` has stamped is not ordered with what this one does.
template <bool is_device>
[[gnu::always_inline]] inline std::uint32_t is_unordered(Stamp stamp, Stamp own, const Moment& at) {
  const std::uint32_t here = (stamp >= at.period) & (std::uint32_t{stamp < at.simdgroup} | (stamp >= at.now));
  std::uint32_t unordered = here & (stamp != own);
  if constexpr (is_device) unordered |= (stamp != 0) & (stamp < at.threadgroup);
  return unordered;
}

// A plain read. Returns whether it may be wrong.
template <bool is_device>
[[gnu::always_inline]] inline std::uint32_t read_unit(Stamp writer, Stamp& reader, Stamp own, const Moment& at,
                                                      Stamp first_written) {
  const std::uint32_t bad = is_unordered<is_device>(writer, own, at) | (writer < first_written);
  const std::uint32_t others = is_unordered<is_device>(reader, own, at);
  const std::uint32_t is_near = (reader >= at.simdgroup) & (reader < at.simdgroup_end);
  Stamp many = is_near ? at.now | several_lanes : at.many_simdgroups;
  if constexpr (is_device) many = reader < at.threadgroup ? threadgroups_many : many;
  reader = others ? many : own;
  return bad;
}

// A plain write.
template <bool is_device>
[[gnu::always_inline]] inline std::uint32_t write_unit(Stamp& writer, Stamp reader, Stamp own, const Moment& at) {
  const std::uint32_t bad = is_unordered<is_device>(writer, own, at) | is_unordered<is_device>(reader, own, at);
  writer = own;
  return bad;
}

// Any atomic access.
template <bool is_device>
inline std::uint32_t change_unit(Stamp& writer, Stamp reader, Stamp own, const Moment& at, Stamp first_written) {
  const bool is_plain = (writer & several_lanes) == 0;
  std::uint32_t bad = is_unordered<is_device>(reader, own, at) | (writer < first_written);
  if (is_plain) bad |= is_unordered<is_device>(writer, own, at);
  const Stamp several = at.now | several_lanes;
  if (is_plain) {
    if (writer == own) return bad;  // the plain write says more
    // Other threadgroups would have to be told of the plain write, too.
    if (is_device && writer >= at.threadgroup) return 1;
    writer = several;
  } else if (is_device && writer != 0 && writer < at.threadgroup) {
    writer = threadgroups_changed;
  } else {
    const bool is_near = writer >= at.simdgroup && writer < at.simdgroup_end;
    writer = writer < at.period || is_near ? several : at.many_simdgroups;
  }
  return bad;
}

// Units side by side, 1 << lane_shift of each lane. `lanes` has a bit for each lane, of which the first is
// `first_lane`; where that is several_lanes, each stands for several ones.
struct UnitRow {
  Stamp *writers, *readers;
  unsigned count, lane_shift;
  std::uint32_t lanes, first_lane;

  bool is_shared() const { return first_lane == several_lanes; }
  bool is_whole() const { return count == 32 && lane_shift == 0 && lanes == ~0u && first_lane == 0; }
};
// Whether all is well.
bool read_row(const UnitRow& row, const Moment& at, bool is_device, Stamp first_written);
bool write_row(const UnitRow& row, const Moment& at, bool is_device);

}  // namespace metalloid::checker
