#include "engines/reference/fibers.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include <boost/context/detail/fcontext.hpp>

#include "engines/cpu_shared/run/stack_switch.h"

namespace metalloid::engines::reference {
namespace {

using cpu::announce;
using cpu::arrive;

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr std::size_t guard = 4096, stride = guard + 1024 * 1024;

// Stacks a whole number of pages apart would all fight for the same few lines of the first-level cache, so their
// starts are staggered by cache lines.
constexpr std::size_t stagger = 128, staggers = 32, usable = stride - guard - stagger * staggers;

// Each guard page splits a mapping in two, and a process may have 65,530 mappings. Beyond this many guards, stacks go
// without.
constexpr std::uint32_t guard_budget = 24'000;
std::atomic<std::uint32_t> guards_used{0};

}  // namespace

struct FirstFrame {
  METALLOID_UNSANITIZED static void run(transfer_t transfer) {
    auto& fibers = *static_cast<Fibers*>(transfer.data);
    fibers.caller_ = transfer.fctx;
    arrive(nullptr, &fibers.caller_stack_, &fibers.caller_stack_size_);
    fibers.function_();
  }
};

void Fibers::reserve(std::uint32_t count) {
  if (count <= count_) return;
  release();
  mapping_.map(stride * count);
  // A few touched pages per stack are the usual case; huge pages would make each stack cost 2 MiB.
  ::madvise(mapping_.begin(), mapping_.size(), MADV_NOHUGEPAGE);
  memory_ = mapping_.begin();
  count_ = count;
  has_guards_ = (guards_used += count) <= guard_budget;
  if (!has_guards_) guards_used -= count;
  // Below the lowest stack and above the highest lie the mapping's own guards.
  for (std::uint32_t i = 0; has_guards_ && i < count; ++i) ::mprotect(memory_ + i * stride, guard, PROT_NONE);
}

void Fibers::release() {
  if (!memory_) return;
  reset();
  mapping_.release();
  if (has_guards_) guards_used -= count_;
  memory_ = nullptr;
  count_ = 0;
}

std::byte* Fibers::top(std::uint32_t index) const {
  return memory_ + (index + std::size_t{1}) * stride - index % staggers * stagger;
}

METALLOID_UNSANITIZED void Fibers::start(std::uint32_t index, void (*function)()) {
  function_ = function;
  contexts_[index] = make_fcontext(top(index), usable, FirstFrame::run);
  resume(index);
}

METALLOID_UNSANITIZED void Fibers::resume(std::uint32_t index) {
  running_ = index;
  void* fake_stack = nullptr;
  announce(&fake_stack, top(index) - usable, usable);
  inside_ = true;
  contexts_[index] = jump_fcontext(contexts_[index], this).fctx;
  inside_ = false;
  arrive(fake_stack, nullptr, nullptr);
}

METALLOID_UNSANITIZED void Fibers::stop() {
  void* fake_stack = nullptr;
  announce(&fake_stack, caller_stack_, caller_stack_size_);
  caller_ = jump_fcontext(caller_, nullptr).fctx;
  arrive(fake_stack, &caller_stack_, &caller_stack_size_);
}

METALLOID_UNSANITIZED void Fibers::reset() {
#if defined(METALLOID_ADDRESS_SANITIZER)
  if (inside_) {
    announce(nullptr, caller_stack_, caller_stack_size_);
    arrive(nullptr, nullptr, nullptr);
  }
  // What abandoned threads left behind: the sanitizer's shadow of their frames.
  if (memory_) __asan_unpoison_memory_region(memory_, stride * count_);
#endif
  inside_ = false;
}

const std::byte* Fibers::end_of_stack(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  if (!memory_ || byte < memory_ || byte >= memory_ + stride * count_) return nullptr;
  return memory_ + (static_cast<std::size_t>(byte - memory_) / stride + 1) * stride;
}

bool Fibers::is_guard(const void* address) const {
  auto* byte = static_cast<const std::byte*>(address);
  if (mapping_.is_below(address) || mapping_.is_above(address)) return true;
  if (!memory_ || byte < memory_ || byte >= memory_ + stride * count_) return false;
  return static_cast<std::size_t>(byte - memory_) % stride < guard;
}

}  // namespace metalloid::engines::reference
