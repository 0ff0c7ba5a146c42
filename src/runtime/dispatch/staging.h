// Copies of a dispatch's memory for hardware that cannot reach it where it is.
#pragma once

#include <cstddef>
#include <vector>

#include "engines/engine.h"

namespace metalloid::runtime {

// What the dispatch names is copied, and no more of a buffer. Ranges that overlap become one copy, so that what the
// host bound twice is one memory to the kernel too.
class Staging {
 public:
  static bool is_needed(const engines::DispatchPlan& plan, const engines::Hardware& hardware);

  // Copies in. Throws std::bad_alloc.
  Staging(const engines::DispatchPlan& plan, engines::Hardware& hardware);
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
  void join(std::vector<Range> ranges);
  void copy_in();
  // Where the copy of that range is.
  std::byte* copy_of(const Range& range) const;

  engines::DispatchPlan plan_;
  engines::Memory& memory_;
  std::vector<Range> blocks_;   // apart from each other
  std::vector<Range> written_;  // by arguments
};

// Calls the function with the plan, or with one of copies if the hardware cannot reach its memory, and brings back what
// it wrote, also when it throws.
template <typename Run>
void run_where_reached(const engines::DispatchPlan& plan, engines::Hardware& hardware, Run run) {
  if (!Staging::is_needed(plan, hardware)) return run(plan);
  Staging staging(plan, hardware);
  try {
    run(staging.plan());
  } catch (...) {
    staging.copy_back();
    throw;
  }
  staging.copy_back();
}

}  // namespace metalloid::runtime
