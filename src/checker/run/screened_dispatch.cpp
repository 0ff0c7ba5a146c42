#include "checker/run/screened_dispatch.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace metalloid::checker {
namespace {

constexpr std::uint64_t most_bytes_per_byte = 8;     // of what is bound, for all that screening has of it
constexpr std::size_t piece = std::size_t{1} << 20;  // that a core copies

template <typename Function>
void for_each_written(const ScreenedRoot* roots, Function function) {
  for (; roots->root != unknown_root; ++roots) {
    if (roots->root < first_threadgroup_root && (roots->uses & screened_written) != 0) function(*roots);
  }
}

// Pages of zeros stay as they are in fresh memory: large arrays that nobody has touched take none.
void copy_what_differs(std::byte* to, const std::byte* from, std::size_t size) {
  constexpr std::size_t page = 4096;
  for (std::size_t at = 0; at < size; at += page) {
    const std::size_t bytes = std::min(page, size - at);
    if (std::memcmp(to + at, from + at, bytes) != 0) std::memcpy(to + at, from + at, bytes);
  }
}

}  // namespace

ScreenedDispatch::ScreenedDispatch(const KernelInfo& kernel, std::vector<WatchedArgument> arguments,
                                   const WatchedGrid& grid, bool strict, KeptMemory& kept)
    : kernel_(kernel), arguments_(std::move(arguments)), grid_(grid), strict_(strict), kept_(kept) {}

ScreenedDispatch::~ScreenedDispatch() {
  for (Copy& copy : copies_) kept_.keep(std::move(copy.bytes));
}

unsigned ScreenedDispatch::prepare(const ScreenedRoot* roots, unsigned most, ForEach for_each) {
  const unsigned workers = std::min(most, most_workers(roots));
  while (screens_.size() < workers) {
    screens_.push_back(std::make_unique<Screen>(kernel_, arguments_, grid_, strict_, kept_));
    if (!screens_.back()->prepare(roots)) return 0;
  }
  for (const auto& screen : screens_) free_.push_back(screen.get());
  copy_memory(roots, for_each);
  return workers;
}

unsigned ScreenedDispatch::most_workers(const ScreenedRoot* roots) const {
  std::uint64_t bound = 0, copied = 0, stamps = 0;
  for (const WatchedArgument& argument : arguments_) bound += argument.address ? argument.bytes : 0;
  for_each_written(roots, [&](const ScreenedRoot& root) {
    copied += arguments_[root.root].bytes;
    stamps += 2 * sizeof(Stamp) * (arguments_[root.root].bytes >> root.unit);
  });
  while (roots->root != unknown_root) ++roots;
  // What threadgroups tell each other by atomics depends on which one comes first.
  if ((roots->uses & screened_exchanged) != 0) return 1;
  if (stamps == 0) return ~0u;
  const std::uint64_t workers = (most_bytes_per_byte * bound - copied) / stamps;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(workers, 1, ~0u));
}

void ScreenedDispatch::copy_memory(const ScreenedRoot* roots, ForEach for_each) {
  std::vector<Copy> copies;  // which are no copies yet, if this throws
  const auto add = [&](std::size_t i) {
    const WatchedArgument& argument = arguments_[i];
    if (!argument.address || argument.bytes == 0) return;
    copies.push_back({argument.address, argument.bytes, kept_.take_bytes(argument.bytes)});
  };
  for_each_written(roots, [&](const ScreenedRoot& root) { add(root.root); });
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    // Of others the table need not say it.
    const ArgumentInfo& argument = kernel_.arguments[i];
    const bool is_copied =
        std::ranges::any_of(copies, [&](const Copy& copy) { return copy.address == arguments_[i].address; });
    if (argument.kind != ArgumentKind::buffer && argument.access != Access::read && !is_copied) add(i);
  }
  for (const Copy& copy : copies) {
    const auto copy_piece = [&](std::size_t i) {
      const std::size_t first = i * piece;
      copy_what_differs(copy.bytes.data() + first, copy.address + first, std::min(piece, copy.size - first));
    };
    for_each((copy.size + piece - 1) / piece, copy_piece);
  }
  copies_ = std::move(copies);
}

Screen& ScreenedDispatch::take() {
  const std::lock_guard lock(mutex_);
  Screen& screen = *free_.back();
  free_.pop_back();
  return screen;
}

void ScreenedDispatch::give_back(Screen& screen) {
  const std::lock_guard lock(mutex_);
  free_.push_back(&screen);
}

bool ScreenedDispatch::is_fine() {
  const bool agree = Screen::agree(screens_);
  for (const auto& screen : screens_) screen->end_dispatch();
  return agree;
}

void ScreenedDispatch::restore() const {
  for (const Copy& copy : copies_) copy_what_differs(copy.address, copy.bytes.data(), copy.size);
}

}  // namespace metalloid::checker
