// The threadgroups of a dispatch that no worker has taken yet.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace metalloid::engines::cpu {

class ThreadgroupQueue {
 public:
  ThreadgroupQueue(std::uint64_t count, unsigned workers) : count_(count), parts_(std::uint64_t{2} * workers) {}

  struct Piece {
    std::uint64_t begin, end;
    bool empty() const { return begin == end; }
  };

  // Pieces become smaller, so that all workers end together.
  Piece take(std::uint64_t most) {
    std::uint64_t begin = next_.load(std::memory_order_relaxed), end;
    do {
      if (begin == count_) return {begin, begin};
      end = begin + std::clamp<std::uint64_t>((count_ - begin) / parts_, 1, most);
    } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return {begin, end};
  }

  bool empty() const { return next_.load(std::memory_order_relaxed) == count_; }

 private:
  const std::uint64_t count_, parts_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace metalloid::engines::cpu
