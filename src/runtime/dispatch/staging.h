// Copies of a dispatch's memory for hardware that cannot reach it where it is.
#pragma once

#include <cstddef>
#include <vector>

#include "engines/engine.h"

namespace metalloid::runtime {

// Ranges that overlap become one copy, so that what the host bound twice is one memory to the kernel too.
class Staging {
 public:
  static bool is_needed(const engines::DispatchPlan& plan, const engines::Memory& memory);

  // Copies in. Throws std::bad_alloc.
  Staging(const engines::DispatchPlan& plan, engines::Memory& memory);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const engines::DispatchPlan& plan() const { return plan_; }
  // What the kernel may have written.
  void copy_back();

 private:
  struct Block {
    engines::Memory* origin;
    std::byte* base;  // in the origin
    std::size_t size;
    bool is_written;
    std::byte* copy = nullptr;  // in memory_
  };
  const Block& block_of(const engines::BoundMemory& range) const;

  engines::DispatchPlan plan_;
  engines::Memory& memory_;
  std::vector<Block> blocks_;
};

}  // namespace metalloid::runtime
