#include "runtime/dispatch/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include "metalloid/error.h"
#include "runtime/dispatch/argument_pointers.h"

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
                             [&](const BoundArgument& argument) { return is_elsewhere(argument.memory, hardware); }) ||
         std::ranges::any_of(plan.used, [&](const BoundMemory& used) { return is_elsewhere(used, hardware); });
}

bool Staging::Range::has(const Memory& memory, const std::byte* address) const {
  return origin->address_space() == memory.address_space() && !std::less<>()(address, begin) &&
         std::less_equal<>()(address, begin + size);
}

Staging::Range Staging::range_of(const BoundMemory& memory) {
  const std::size_t first = first_copied(memory);
  return {memory.memory, memory.base + first, memory.named_end - first};
}

bool Staging::is_copied(const BoundMemory& memory) const {
  if (copies_all_) return memory.owner == BoundMemory::Owner::buffer && memory.base;
  return is_elsewhere(memory, hardware_);
}

Staging::Staging(const KernelInfo& kernel, const engines::DispatchPlan& plan, Hardware& hardware)
    : kernel_(kernel), plan_(plan), hardware_(hardware), memory_(hardware.memory()) {
  // An argument buffer that could stay where it is gets other addresses, too.
  copies_all_ = std::ranges::any_of(kernel.arguments, holds_pointers);
  const auto is_out_of_reach = [&](const BoundMemory& used) { return is_elsewhere(used, hardware); };
  if (!copies_all_ && std::ranges::any_of(plan.used, is_out_of_reach)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel '{}' uses a buffer that its device cannot reach, and works on a copy; but no "
                            "argument's type says where the buffer's address is",
                            kernel.name));
  }
  std::vector<Range> ranges;
  const auto add = [&](const BoundMemory& memory) {
    if (is_copied(memory)) ranges.push_back(range_of(memory));
  };
  for (const BoundArgument& argument : plan.arguments) add(argument.memory);
  for (const BoundMemory& used : plan.used) add(used);
  written_.reserve(ranges.size());
  join(std::move(ranges));
  copy_in();
  try {
    for (BoundArgument& argument : plan_.arguments) {
      if (!is_copied(argument.memory)) continue;
      move_to_copy(argument.memory);
      if (!argument.descriptor.empty()) {
        argument.descriptor[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(argument.memory.address()));
      }
    }
    for (BoundMemory& used : plan_.used) {
      if (is_copied(used)) move_to_copy(used);
    }
    lead_to_copies();
  } catch (...) {
    release();
    throw;
  }
}

void Staging::move_to_copy(BoundMemory& memory) {
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
    release();
    throw;
  }
}

void Staging::release() noexcept {
  for (const Range& block : blocks_) {
    if (block.copy) memory_.release(block.copy, block.size);
  }
}

Staging::~Staging() { release(); }

std::byte* Staging::copy_of(const Range& range) const {
  // Of two that meet in one address, the range lies in the later one, unless it is empty.
  const auto block = std::ranges::find_if(blocks_.rbegin(), blocks_.rend(),
                                          [&](const Range& each) { return each.has(*range.origin, range.begin); });
  return block->copy + (range.begin - block->begin);
}

void Staging::lead_to_copies() {
  for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
    const ArgumentInfo& argument = kernel_.arguments[i];
    BoundMemory& memory = plan_.arguments[i].memory;
    if (!memory.base || !holds_pointers(argument)) continue;
    std::vector<std::byte> bytes(memory.size - memory.offset);
    memory.memory->copy_out(bytes, memory.address());
    for_each_pointer(argument, bytes, [&](const PointerPlace& place, std::uint64_t& address, bool is_first) {
      const auto lies_in = [&](const std::byte* begin, std::size_t size) {
        return address - reinterpret_cast<std::uintptr_t>(begin) < size;
      };
      for (const Range& block : blocks_) {
        if (lies_in(block.copy, block.size)) return;  // bound twice
        if (!lies_in(block.begin, block.size)) continue;
        if (is_first && place.leads_to_pointers) refuse(argument, place, "memory that holds addresses, too");
        address += reinterpret_cast<std::uintptr_t>(block.copy) - reinterpret_cast<std::uintptr_t>(block.begin);
        return;
      }
      // What lies behind the first object may be anything.
      if (is_first && address != 0) refuse(argument, place, "memory that is neither bound nor named with use()");
    });
    if (memory.owner == BoundMemory::Owner::dispatch) {
      memory.size -= memory.offset;
      memory.named_end -= memory.offset;
      memory.offset = memory.named_begin = 0;
      memory.base = bytes_.emplace_back(std::move(bytes)).data();
    } else {
      memory.memory->copy_in(memory.address(), bytes);
    }
  }
}

void Staging::refuse(const ArgumentInfo& argument, const PointerPlace& place, std::string_view where) const {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("kernel '{}': the address in argument '{}' at index {}{} leads to {}; its device cannot reach "
                  "all memory of this dispatch and works on a copy, where such an address means nothing",
                  kernel_.name, argument.name, argument.index,
                  place.name.empty() ? "" : fmt::format(", '{}',", place.name), where));
}

void Staging::lead_to_originals() {
  for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
    const BoundMemory& memory = plan_.arguments[i].memory;
    if (memory.owner != BoundMemory::Owner::buffer || !memory.base || !holds_pointers(kernel_.arguments[i])) continue;
    std::vector<std::byte> bytes(memory.size - memory.offset);
    memory.memory->copy_out(bytes, memory.address());
    for_each_pointer(kernel_.arguments[i], bytes, [&](const PointerPlace&, std::uint64_t& address, bool) {
      for (const Range& block : blocks_) {
        const auto copy = reinterpret_cast<std::uintptr_t>(block.copy);
        if (address - copy >= block.size) continue;
        address += reinterpret_cast<std::uintptr_t>(block.begin) - copy;
        return;
      }
    });
    memory.memory->copy_in(memory.address(), bytes);
  }
}

void Staging::copy_back() {
  lead_to_originals();
  for (const Range& range : written_) copy(*range.origin, range.begin, memory_, range.copy, range.size);
}

}  // namespace metalloid::runtime
