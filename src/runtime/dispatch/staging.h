// Copies of a dispatch's memory for hardware that cannot reach it where it is.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "metalloid/reflection.h"
#include "runtime/dispatch/argument_pointers.h"

namespace metalloid::runtime {

// What the dispatch names is copied, and no more of a buffer. Ranges that overlap become one copy, so that what the
// host bound twice is one memory to the kernel too. Addresses in argument buffers become those of copies, and when
// memory is brought back what they were.
class Staging {
 public:
  static bool is_needed(const engines::DispatchPlan& plan, const engines::Hardware& hardware);

  // Copies in. Throws std::bad_alloc, and invalid_argument for addresses that it cannot follow. The kernel is to live
  // as long.
  Staging(const KernelInfo& kernel, const engines::DispatchPlan& plan, engines::Hardware& hardware);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const engines::DispatchPlan& plan() const { return plan_; }
  // What the kernel may have written.
  void copy_back();

 private:
  // Bytes in both memories.
  struct Range {
    engines::Memory* origin;
    std::byte* begin;  // in the origin
    std::size_t size;
    std::byte* copy = nullptr;  // in memory_

    bool has(const engines::Memory& memory, const std::byte* address) const;
  };
  static Range range_of(const engines::BoundMemory& memory);
  bool is_copied(const engines::BoundMemory& memory) const;
  // That of the plan, to be the copy's.
  void move_to_copy(engines::BoundMemory& memory);
  void join(std::vector<Range> ranges);
  void copy_in();
  void release() noexcept;
  // Where the copy of that range is.
  std::byte* copy_of(const Range& range) const;

  // Of addresses in arguments' memory.
  void lead_to_copies();
  void lead_to_originals();
  [[noreturn]] void refuse(const ArgumentInfo& argument, const PointerPlace& place, std::string_view where) const;

  const KernelInfo& kernel_;
  engines::DispatchPlan plan_;
  const engines::Hardware& hardware_;
  engines::Memory& memory_;
  bool copies_all_ = false;                    // also what the hardware can reach
  std::vector<Range> blocks_;                  // apart from each other
  std::vector<Range> written_;                 // by arguments
  std::vector<std::vector<std::byte>> bytes_;  // in place of those of the dispatch that hold addresses
};

// Calls the function with the plan, or with one of copies if the hardware cannot reach its memory, and brings back what
// it wrote, also when it throws.
template <typename Run>
void run_where_reached(const KernelInfo& kernel, const engines::DispatchPlan& plan, engines::Hardware& hardware,
                       Run run) {
  if (!Staging::is_needed(plan, hardware)) return run(plan);
  Staging staging(kernel, plan, hardware);
  try {
    run(staging.plan());
  } catch (...) {
    staging.copy_back();
    throw;
  }
  staging.copy_back();
}

}  // namespace metalloid::runtime
