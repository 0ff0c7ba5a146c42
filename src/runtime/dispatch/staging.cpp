#include "runtime/dispatch/staging.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>

namespace metalloid::runtime {
namespace {

using engines::BoundArgument;
using engines::BoundMemory;
using engines::Memory;

bool is_elsewhere(const BoundMemory& range, const Memory& memory) {
  return range.owner == BoundMemory::Owner::buffer && range.memory != &memory && range.base && range.size != 0;
}

void copy(Memory& to_memory, std::byte* to, Memory& from_memory, std::byte* from, std::size_t size) {
  if (from_memory.is_host()) {
    to_memory.copy_in(to, {from, size});
  } else if (to_memory.is_host()) {
    from_memory.copy_out({to, size}, from);
  } else {
    std::vector<std::byte> between(size);
    from_memory.copy_out(between, from);
    to_memory.copy_in(to, between);
  }
}

}  // namespace

bool Staging::is_needed(const engines::DispatchPlan& plan, const Memory& memory) {
  return std::ranges::any_of(plan.arguments,
                             [&](const BoundArgument& argument) { return is_elsewhere(argument.memory, memory); });
}

Staging::Staging(const engines::DispatchPlan& plan, Memory& memory) : plan_(plan), memory_(memory) {
  std::vector<Block> ranges;
  for (const BoundArgument& argument : plan.arguments) {
    const BoundMemory& range = argument.memory;
    if (!is_elsewhere(range, memory)) continue;
    ranges.push_back({range.memory, range.base, range.size, range.access != Access::read});
  }
  std::ranges::sort(ranges, [](const Block& a, const Block& b) {
    return std::tuple(reinterpret_cast<std::uintptr_t>(a.origin), reinterpret_cast<std::uintptr_t>(a.base)) <
           std::tuple(reinterpret_cast<std::uintptr_t>(b.origin), reinterpret_cast<std::uintptr_t>(b.base));
  });
  for (const Block& range : ranges) {
    Block* last = blocks_.empty() ? nullptr : &blocks_.back();
    if (last && last->origin == range.origin && std::less<>()(range.base, last->base + last->size)) {
      last->size = std::max(last->size, static_cast<std::size_t>(range.base - last->base) + range.size);
      last->is_written |= range.is_written;
    } else {
      blocks_.push_back(range);
    }
  }
  try {
    for (Block& block : blocks_) {
      block.copy = memory.allocate(block.size);
      copy(memory, block.copy, *block.origin, block.base, block.size);
    }
  } catch (...) {
    for (Block& block : blocks_) {
      if (block.copy) memory.release(block.copy, block.size);
    }
    throw;
  }
  for (BoundArgument& argument : plan_.arguments) {
    BoundMemory& range = argument.memory;
    if (!is_elsewhere(range, memory)) continue;
    const Block& block = block_of(range);
    range.base = block.copy + (range.base - block.base);
    range.memory = &memory;
    if (!argument.descriptor.empty()) {
      argument.descriptor[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(range.address()));
    }
  }
}

Staging::~Staging() {
  for (const Block& block : blocks_) memory_.release(block.copy, block.size);
}

const Staging::Block& Staging::block_of(const BoundMemory& range) const {
  return *std::ranges::find_if(blocks_, [&](const Block& block) {
    return block.origin == range.memory && !std::less<>()(range.base, block.base) &&
           std::less<>()(range.base, block.base + block.size);
  });
}

void Staging::copy_back() {
  for (const Block& block : blocks_) {
    if (block.is_written) copy(*block.origin, block.base, memory_, block.copy, block.size);
  }
}

}  // namespace metalloid::runtime
