// What the checker remembers of memory: for each 8 bytes up to four accesses, in 64 bytes, so that the shadow takes 8
// bytes for each that is checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace metalloid::checker {

inline constexpr unsigned granule = 8;  // bytes of memory of one cell

// One thread's access to some bytes of a cell.
struct Slot {
  std::uint32_t threadgroup = 0;  // its number in the dispatch, from 1
  std::uint32_t time = 0;         // of its simdgroup (clock.h)
  std::uint16_t thread = 0;       // in its threadgroup
  std::uint16_t site = 0;
  std::uint8_t bytes = 0;  // a bit for each; 0: the slot is free
  std::uint8_t argument = 0;
  bool writes = false, atomic = false;
};
static_assert(sizeof(Slot) == 16);

struct Cell {
  std::array<Slot, 4> slots;
};

// Cells by address, made when they are first asked for.
class Shadow {
 public:
  Cell& cell_of(std::uintptr_t address) {
    const std::uintptr_t page = address / page_bytes;
    Recent& recent = recent_[page % recent_.size()];
    if (recent.page != page || !recent.cells) [[unlikely]] {
      recent = {page, find(page)};
    }
    return recent.cells[address % page_bytes / granule];
  }

  std::size_t bytes() const { return pages_.size() * sizeof(Page); }

 private:
  static constexpr std::size_t page_bytes = 4096;
  struct Page {
    std::array<Cell, page_bytes / granule> cells;
  };
  struct Recent {
    std::uintptr_t page = 0;
    Cell* cells = nullptr;
  };

  Cell* find(std::uintptr_t page) {
    auto& found = pages_[page];
    if (!found) found = std::make_unique<Page>();
    return found->cells.data();
  }

  std::array<Recent, 256> recent_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
};

}  // namespace metalloid::checker
