// The threadgroups of a dispatch that no worker has taken yet.
//
// Each worker has a part of the grid to itself, the same one in all dispatches of as many threadgroups: what one
// dispatch leaves in a core's caches, the next one finds there. Who has nothing left takes from the end of another's
// part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace metalloid::engines::cpu {

class ThreadgroupQueue {
 public:
  // `in_order`: no worker takes a threadgroup behind a later one.
  ThreadgroupQueue(std::uint64_t count, unsigned workers, bool in_order)
      : count_(count), unit_((count >> 31) + 1), stolen_(2 * workers), own_(in_order ? stolen_ : 4) {
    if (!in_order && workers > 1) {
      several_ = std::make_unique<Part[]>(workers);
      parts_ = {several_.get(), workers};
    }
    const std::uint64_t units = count / unit_ + (count % unit_ != 0);
    for (std::uint64_t i = 0; i < parts_.size(); ++i) {
      parts_[i].left = Range{i * units / parts_.size(), (i + 1) * units / parts_.size()}.packed();
    }
  }

  struct Piece {
    std::uint64_t begin, end;
    bool empty() const { return begin == end; }
  };

  // At most so many threadgroups for the worker with that number. Pieces become smaller, so that all workers end
  // together.
  Piece take(unsigned worker, std::uint64_t most) {
    most = std::max<std::uint64_t>(most / unit_, 1);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      std::atomic<std::uint64_t>& left = parts_[(worker + i) % parts_.size()].left;
      std::uint64_t before = left.load(std::memory_order_relaxed);
      while (true) {
        const Range all = Range::of(before);
        if (all.empty()) break;
        const std::uint64_t size =
            std::clamp<std::uint64_t>((all.end - all.begin) / (i == 0 ? own_ : stolen_), 1, most);
        const Range taken = i == 0 ? Range{all.begin, all.begin + size} : Range{all.end - size, all.end};
        const Range rest = i == 0 ? Range{taken.end, all.end} : Range{all.begin, taken.begin};
        if (left.compare_exchange_weak(before, rest.packed(), std::memory_order_relaxed)) {
          return {taken.begin * unit_, std::min(taken.end * unit_, count_)};
        }
      }
    }
    return {count_, count_};
  }

  bool empty() const {
    return std::ranges::all_of(
        parts_, [](const Part& part) { return Range::of(part.left.load(std::memory_order_relaxed)).empty(); });
  }

 private:
  // Of units, of which there are less than 2^32: one word, so that it changes at once.
  struct Range {
    std::uint64_t begin, end;
    bool empty() const { return begin == end; }
    std::uint64_t packed() const { return begin << 32 | end; }
    static Range of(std::uint64_t packed) { return {packed >> 32, packed & ~std::uint32_t{0}}; }
  };
  struct alignas(64) Part {
    std::atomic<std::uint64_t> left{0};
  };

  const std::uint64_t count_, unit_;  // threadgroups
  const std::uint64_t stolen_, own_;  // the part of what is left that a piece has
  Part one_;
  std::unique_ptr<Part[]> several_;
  std::span<Part> parts_{&one_, 1};
};

}  // namespace metalloid::engines::cpu
