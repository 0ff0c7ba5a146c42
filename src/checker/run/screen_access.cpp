// Accesses of a screened dispatch, by what is known of where their lanes' places lie.
#include <algorithm>
#include <bit>

#include "checker/run/screen.h"

namespace metalloid::checker {
namespace {

// Of several lanes; processors need not have an instruction that counts.
bool is_one(std::uint64_t bits) { return (bits & (bits - 1)) == 0; }

Undefined undefined_for(std::uint32_t flags, Stamp first_written) {
  if ((flags & access_reads) != 0) return {.read = first_written};
  return {.written = first_written};
}

template <Memory memory>
std::uint32_t enter_unit(std::uint32_t flags, Stamp& writer, Stamp& reader, Stamp own, const Moment& at,
                         Stamp first_written) {
  if ((flags & access_atomic) != 0) {
    return change_unit<memory>(writer, reader, own, at, undefined_for(flags, first_written));
  }
  if ((flags & access_writes) != 0) return write_unit<memory>(writer, reader, own, at);
  return read_unit<memory>(writer, reader, own, at, first_written);
}

}  // namespace

inline const Moment& Screen::moment_of(const Region& region, std::uint32_t simdgroup) {
  std::uint32_t& known = region.is_device ? device_moments_known_ : local_moments_known_;
  Moment& moment = (region.is_device ? device_moments_ : local_moments_)[simdgroup];
  const std::uint32_t bit = std::uint32_t{1} << simdgroup;
  if ((known & bit) == 0) {
    moment = new_moment(region, simdgroup);
    known |= bit;
  }
  return moment;
}

inline Screen::Region& Screen::region_of(std::uint32_t root, std::uintptr_t address, std::uint64_t bytes,
                                         std::uint32_t flags) {
  if (root < first_threadgroup_root) return regions_[root];
  if (root == first_threadgroup_root) return local_;
  return unknown_region(address, bytes, flags);
}

Screen::Region& Screen::unknown_region(std::uintptr_t address, std::uint64_t bytes, std::uint32_t flags) {
  static Region nothing;
  if (address - local_.begin < local_.bytes) return local_;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (address - reinterpret_cast<std::uintptr_t>(arguments_[i].address) >= arguments_[i].bytes) continue;
    if ((flags & access_writes) != 0 && kernel_.arguments[i].access == metalloid::Access::read) suspect("read-only");
    if (address - reinterpret_cast<std::uintptr_t>(arguments_[i].address) + bytes > arguments_[i].bytes) break;
    return regions_[i];
  }
  if ((flags & access_any_space) == 0) suspect("an unknown address");
  return nothing;  // a variable of the thread's
}

inline std::uint64_t Screen::unit_of(const Region& region, std::uintptr_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - region.begin, mask = (std::uint64_t{1} << region.unit) - 1;
  if (bytes > region.bytes || offset > region.bytes - bytes) suspect("out of bounds");
  if (((offset | bytes) & mask) != 0) suspect("between units");
  return offset >> region.unit;
}

inline void Screen::note_use(const Region& region, std::uint64_t unit, std::uint64_t units, std::uint32_t flags) {
  if (!region.is_device) return;
  const std::uint8_t use = (flags & (access_writes | access_atomic)) != 0 ? block_written : block_read;
  const std::uint64_t first = unit >> block_shift, last = (unit + units - 1) >> block_shift;
  region.uses[first] |= use;
  for (std::uint64_t block = first + 1; block <= last; ++block) region.uses[block] |= use;
}

inline bool Screen::enter_row(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes,
                              std::uint32_t lanes, std::uint32_t first_lane, unsigned count, std::uint32_t flags) {
  const std::uint64_t own = bytes >> region.unit;
  if (!is_one(own)) return false;
  const auto shift = static_cast<unsigned>(std::countr_zero(own));
  const UnitRow row{region.writers + unit, region.readers + unit, count << shift, shift, lanes, first_lane};
  const Memory memory = !region.is_device             ? Memory::local
                        : at.period == at.threadgroup ? Memory::device_unmet
                                                      : Memory::device;
  bool is_fine = false;
  if ((flags & access_atomic) != 0) {
    is_fine = change_row(row, at, memory, undefined_for(flags, region.first_written));
  } else if ((flags & access_writes) != 0) {
    is_fine = write_row(row, at, memory);
  } else {
    is_fine = read_row(row, at, memory, region.first_written);
  }
  if (!is_fine) suspect("a race, or undefined memory");
  return true;
}

inline void Screen::enter_lane(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes,
                               std::uint32_t lane, std::uint32_t flags) {
  const Stamp own = at.now + static_cast<Stamp>(lane);
  std::uint32_t bad = 0;
  for (std::uint64_t end = unit + (bytes >> region.unit); unit < end; ++unit) {
    Stamp &writer = region.writers[unit], &reader = region.readers[unit];
    bad |= region.is_device ? enter_unit<Memory::device>(flags, writer, reader, own, at, region.first_written)
                            : enter_unit<Memory::local>(flags, writer, reader, own, at, region.first_written);
  }
  if (bad != 0) suspect("a race, or undefined memory");
}

void Screen::access_one(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                        std::uint64_t bytes, std::uint32_t flags) {
  if (lanes == 0 || bytes == 0) return;
  const auto at_address = reinterpret_cast<std::uintptr_t>(address);
  const Region& region = region_of(root, at_address, bytes, flags);
  if (!region.writers) return;
  const Moment& at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, at_address, bytes);
  note_use(region, unit, bytes >> region.unit, flags);
  if ((flags & (access_writes | access_atomic)) != 0 || bytes >> region.unit != 1) {
    enter_one(region, at, unit, bytes, lanes, flags);
    return;
  }
  // Most of them.
  const Stamp own = at.now + (is_one(lanes) ? std::countr_zero(lanes) : several_readers);
  const Stamp writer = region.writers[unit];
  Stamp& reader = region.readers[unit];
  if ((region.is_device ? read_unit<Memory::device>(writer, reader, own, at, region.first_written)
                        : read_unit<Memory::local>(writer, reader, own, at, region.first_written)) != 0) {
    suspect("a race, or undefined memory");
  }
}

[[gnu::noinline]] void Screen::enter_one(const Region& region, const Moment& at, std::uint64_t unit,
                                         std::uint64_t bytes, std::uint32_t lanes, std::uint32_t flags) {
  if (is_one(lanes)) {
    enter_lane(region, at, unit, bytes, static_cast<std::uint32_t>(std::countr_zero(lanes)), flags);
  } else if ((flags & access_atomic) != 0) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      enter_lane(region, at, unit, bytes, static_cast<std::uint32_t>(std::countr_zero(rest)), flags);
    }
  } else if ((flags & access_writes) != 0) {
    suspect("lanes write one place");
  } else {
    enter_lane(region, at, unit, bytes, several_readers, flags);
  }
}

void Screen::access_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                        std::uint64_t bytes, std::uint32_t flags) {
  if (lanes == 0 || bytes == 0) return;
  const auto first_lane = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned count = 32 - static_cast<unsigned>(std::countl_zero(lanes)) - first_lane;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) + first_lane * bytes;
  const Region& region = region_of(root, begin, count * bytes, flags);
  if (!region.writers) return;
  const Moment& at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, begin, count * bytes);
  note_use(region, unit, count * bytes >> region.unit, flags);
  if (enter_row(region, at, unit, bytes, lanes >> first_lane, first_lane, count, flags)) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    enter_lane(region, at, unit + (lane - first_lane) * (bytes >> region.unit), bytes, lane, flags);
  }
}

void Screen::access_shared_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                               std::uint64_t bytes, std::uint32_t flags, std::uint32_t count) {
  if (lanes == 0 || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t places = lanes, twice = 0;  // of several lanes
  for (std::uint32_t step = 16; step >= count; step /= 2) {
    twice |= twice >> step | (places & places >> step);
    places |= places >> step;
  }
  const std::uint32_t all = (std::uint32_t{1} << count) - 1;
  places &= all;
  const auto first_place = static_cast<unsigned>(std::countr_zero(places));
  const unsigned length = 32 - static_cast<unsigned>(std::countl_zero(places)) - first_place;
  const Region& region = region_of(root, begin + first_place * bytes, length * bytes, flags);
  if (!region.writers) return;
  const Moment& at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, begin + first_place * bytes, length * bytes);
  note_use(region, unit, length * bytes >> region.unit, flags);
  const bool is_shared = (flags & (access_writes | access_atomic)) == 0 && (twice & all) != 0;
  if (is_shared && enter_row(region, at, unit, bytes, places >> first_place, several_readers, length, flags)) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    enter_lane(region, at, unit + (lane % count - first_place) * (bytes >> region.unit), bytes, lane, flags);
  }
}

template <typename Enter>
inline void Screen::enter_lanes(const Region region, std::uint32_t lanes, const void* const* addresses,
                                std::uint64_t bytes, std::uint32_t flags, Enter enter) {
  const std::uint64_t units = bytes >> region.unit;
  std::uint32_t bad = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    std::uint64_t unit = unit_of(region, reinterpret_cast<std::uintptr_t>(addresses[lane]), bytes);
    note_use(region, unit, units, flags);
    for (const std::uint64_t end = unit + units; unit < end; ++unit) {
      bad |= enter(region.writers[unit], region.readers[unit], lane);
    }
  }
  if (bad != 0) suspect("a race, or undefined memory");
}

void Screen::access_lanes(std::uint32_t first, std::uint32_t lanes, const void* const* addresses, std::uint32_t root,
                          std::uint64_t bytes, std::uint32_t flags) {
  if (lanes == 0 || bytes == 0) return;
  const auto first_lane = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned last_lane = 31 - static_cast<unsigned>(std::countl_zero(lanes));
  const auto address_of = [&](unsigned lane) { return reinterpret_cast<std::uintptr_t>(addresses[lane]); };
  const std::uintptr_t begin = address_of(first_lane) - first_lane * bytes;
  // All side by side, which only the numbers have shown.
  if (address_of(last_lane) == begin + last_lane * bytes) {
    std::uint64_t differs = 0;
    for (unsigned lane = first_lane; lane <= last_lane; ++lane) {
      const std::uint64_t is_in = 0 - std::uint64_t{lanes >> lane & 1};
      differs |= is_in & (address_of(lane) ^ (begin + lane * bytes));
    }
    if (differs == 0) {
      access_row(first, lanes, reinterpret_cast<const void*>(begin), root, bytes, flags);
      return;
    }
  }
  if (root > first_threadgroup_root) {  // each may lie elsewhere
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      access_one(first, std::uint32_t{1} << lane, addresses[lane], root, bytes, flags);
    }
    return;
  }
  const Region& region = region_of(root, 0, bytes, flags);
  if (!region.writers) return;
  const Moment at = moment_of(region, first / 32);  // a copy, which no stamp may be part of
  const Stamp written = region.first_written;
  const auto enter = [&]<Memory memory>() {
    if ((flags & access_atomic) != 0) {
      const Undefined undefined = undefined_for(flags, written);
      enter_lanes(region, lanes, addresses, bytes, flags, [&](Stamp& writer, Stamp& reader, std::uint32_t lane) {
        return change_unit<memory>(writer, reader, at.now + static_cast<Stamp>(lane), at, undefined);
      });
    } else if ((flags & access_writes) != 0) {
      enter_lanes(region, lanes, addresses, bytes, flags, [&](Stamp& writer, Stamp& reader, std::uint32_t lane) {
        return write_unit<memory>(writer, reader, at.now + static_cast<Stamp>(lane), at);
      });
    } else {
      enter_lanes(region, lanes, addresses, bytes, flags, [&](Stamp& writer, Stamp& reader, std::uint32_t lane) {
        return read_unit<memory>(writer, reader, at.now + static_cast<Stamp>(lane), at, written);
      });
    }
  };
  region.is_device ? enter.operator()<Memory::device>() : enter.operator()<Memory::local>();
}

}  // namespace metalloid::checker
