// What the checker remembers of memory: for each 8 bytes up to four accesses, in 64 bytes, so that the shadow takes 8
// bytes for each that is checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "support/zeroed_array.h"

namespace metalloid::checker {

inline constexpr unsigned granule = 8;  // bytes of memory of one cell

// One thread's access to some bytes of a cell.
struct Slot {
  std::uint32_t threadgroup = 0;  // its number in the dispatch, from 1
  std::uint32_t time = 0;         // of its simdgroup (clock.h)
  std::uint16_t thread : 14 = 0;  // in its threadgroup
  std::uint16_t writes : 1 = 0;
  std::uint16_t atomic : 1 = 0;
  std::uint16_t site = 0;
  std::uint8_t bytes = 0;  // a bit for each; 0: the slot is free
  std::uint8_t argument = 0;
  std::uint16_t tag = 0;  // of the cell: a part of what `Cell::shared` holds
};
static_assert(sizeof(Slot) == 16);

// The last two bytes of each slot belong to the cell, so that it stays one line of a processor's cache.
struct alignas(64) Cell {
  std::array<Slot, 4> slots;

  // Until the next barrier, reads of these bytes by that simdgroup, or by any, tell nothing new: two threads of it, or
  // of different ones, have read them, and nobody wrote. `period` counts barriers and threadgroups.
  static constexpr std::uint16_t any_simdgroup = 0xffff;
  bool is_shared(std::uint32_t period, unsigned bytes, std::uint32_t simdgroup) const {
    return (slots[0].tag | std::uint32_t{slots[1].tag} << 16) == period && (bytes & ~slots[2].tag) == 0 &&
           (slots[3].tag == any_simdgroup || slots[3].tag == simdgroup);
  }
  void share(std::uint32_t period, unsigned bytes, std::uint16_t simdgroup) {
    const bool is_same = (slots[0].tag | std::uint32_t{slots[1].tag} << 16) == period && slots[3].tag == simdgroup;
    slots[0].tag = static_cast<std::uint16_t>(period);
    slots[1].tag = static_cast<std::uint16_t>(period >> 16);
    slots[2].tag = static_cast<std::uint16_t>(is_same ? slots[2].tag | bytes : bytes);
    slots[3].tag = simdgroup;
  }
  void unshare() { slots[2].tag = 0; }
  // Leaves the cell's own part as it is.
  static void put(Slot& place, const Slot& access) {
    const std::uint16_t tag = place.tag;
    place = access;
    place.tag = tag;
  }
};

// Cells of memory that lies in one piece. They cost memory of the host once they are touched.
class Cells {
 public:
  // Throws std::bad_alloc.
  void reserve(const std::byte* begin, std::size_t bytes);
  bool covers(std::uintptr_t address) const { return address - first_ < cells_.size() * granule; }
  Cell& at(std::uintptr_t address) const { return cells_[(address - first_) / granule]; }

 private:
  support::ZeroedArray<Cell> cells_;
  std::uintptr_t first_ = 0;  // a multiple of the granule
};

// Cells by address, made page by page when they are first asked for.
class SparseCells {
 public:
  Cell& at(std::uintptr_t address) {
    auto& found = pages_[address / page_bytes];
    if (!found) found = std::make_unique<Page>();
    return found->cells[address % page_bytes / granule];
  }

 private:
  static constexpr std::size_t page_bytes = 4096;
  struct Page {
    std::array<Cell, page_bytes / granule> cells;
  };
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
};

}  // namespace metalloid::checker
