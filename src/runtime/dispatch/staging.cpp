#include "runtime/dispatch/staging.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

namespace metalloid::runtime {
namespace {

using engines::BoundArgument;
using engines::BoundMemory;
using engines::Hardware;
using engines::Memory;

bool is_elsewhere(const BoundMemory& range, const Hardware& hardware) {
  return range.owner == BoundMemory::Owner::buffer && range.base && !hardware.can_reach(*range.memory);
}

// Copies keep the place in the buffer up to this alignment, by which kernels may count on where it begins.
std::size_t first_copied(const BoundMemory& range) {
  return range.named_begin / engines::allocation_alignment * engines::allocation_alignment;
}

void copy(Memory& to_memory, std::byte* to, Memory& from_memory, std::byte* from, std::size_t size) {
  if (from_memory.host_can_reach()) {
    to_memory.copy_in(to, {from, size});
  } else if (to_memory.host_can_reach()) {
    from_memory.copy_out({to, size}, from);
  } else {
    std::vector<std::byte> between(size);
    from_memory.copy_out(between, from);
    to_memory.copy_in(to, between);
  }
}

}  // namespace

bool Staging::is_needed(const engines::DispatchPlan& plan, const Hardware& hardware) {
  return std::ranges::any_of(plan.arguments,
                             [&](const BoundArgument& argument) { return is_elsewhere(argument.memory, hardware); });
}

bool Staging::Range::has(const Memory& memory, const std::byte* address) const {
  return origin->address_space() == memory.address_space() && !std::less<>()(address, begin) &&
         std::less_equal<>()(address, begin + size);
}

Staging::Range Staging::range_of(const BoundMemory& memory) {
  const std::size_t first = first_copied(memory);
  return {memory.memory, memory.base + first, memory.named_end - first};
}

Staging::Staging(const engines::DispatchPlan& plan, Hardware& hardware) : plan_(plan), memory_(hardware.memory()) {
  std::vector<Range> ranges;
  for (const BoundArgument& argument : plan.arguments) {
    if (is_elsewhere(argument.memory, hardware)) ranges.push_back(range_of(argument.memory));
  }
  written_.reserve(ranges.size());
  join(std::move(ranges));
  copy_in();
  for (BoundArgument& argument : plan_.arguments) {
    BoundMemory& memory = argument.memory;
    if (!is_elsewhere(memory, hardware)) continue;
    const std::size_t first = first_copied(memory);
    std::byte* copy = copy_of(range_of(memory));
    if (memory.access != Access::read) {
      written_.push_back({memory.memory, memory.base + memory.named_begin, memory.named_end - memory.named_begin,
                          copy + (memory.named_begin - first)});
    }
    memory.base = copy;
    memory.size = memory.named_end - first;
    memory.offset -= first;
    memory.named_begin -= first;
    memory.named_end -= first;
    memory.memory = &memory_;
    if (!argument.descriptor.empty()) {
      argument.descriptor[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(memory.address()));
    }
  }
}

void Staging::join(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, [](const Range& range) {
    return std::tuple(reinterpret_cast<std::uintptr_t>(range.origin->address_space()),
                      reinterpret_cast<std::uintptr_t>(range.begin));
  });
  for (const Range& range : ranges) {
    Range* last = blocks_.empty() ? nullptr : &blocks_.back();
    if (last && last->has(*range.origin, range.begin) && range.begin != last->begin + last->size) {
      last->size = std::max(last->size, static_cast<std::size_t>(range.begin - last->begin) + range.size);
    } else {
      blocks_.push_back(range);
    }
  }
}

void Staging::copy_in() {
  try {
    for (Range& block : blocks_) {
      block.copy = memory_.allocate(block.size);
      copy(memory_, block.copy, *block.origin, block.begin, block.size);
    }
  } catch (...) {
    for (const Range& block : blocks_) {
      if (block.copy) memory_.release(block.copy, block.size);
    }
    throw;
  }
}

Staging::~Staging() {
  for (const Range& block : blocks_) memory_.release(block.copy, block.size);
}

std::byte* Staging::copy_of(const Range& range) const {
  // Of two that meet in one address, the range lies in the later one, unless it is empty.
  const auto block = std::ranges::find_if(blocks_.rbegin(), blocks_.rend(),
                                          [&](const Range& each) { return each.has(*range.origin, range.begin); });
  return block->copy + (range.begin - block->begin);
}

void Staging::copy_back() {
  for (const Range& range : written_) copy(*range.origin, range.begin, memory_, range.copy, range.size);
}

}  // namespace metalloid::runtime
