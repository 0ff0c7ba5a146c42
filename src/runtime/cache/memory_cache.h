// A small cache of shared objects by hash; the oldest entries leave first. Lives as long as the process.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "support/fork_safe_mutex.h"
#include "support/hash.h"

namespace metalloid::runtime {

template <typename T>
class MemoryCache {
 public:
  explicit MemoryCache(std::size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const T> find(const support::Hash& key) const {
    std::lock_guard lock(mutex_);
    auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
  }

  void clear() {
    std::unordered_map<support::Hash, std::shared_ptr<const T>> evicted;  // destroyed outside the lock
    std::lock_guard lock(mutex_);
    evicted.swap(entries_);
    order_.clear();
  }

  void insert(const support::Hash& key, std::shared_ptr<const T> value) {
    std::shared_ptr<const T> evicted;  // destroyed outside the lock
    std::lock_guard lock(mutex_);
    auto [entry, added] = entries_.try_emplace(key, value);
    if (!added) {
      evicted = std::exchange(entry->second, std::move(value));
      return;
    }
    order_.push_back(key);
    if (order_.size() > capacity_) {
      auto oldest = entries_.find(order_.front());
      evicted = std::move(oldest->second);
      entries_.erase(oldest);
      order_.pop_front();
    }
  }

 private:
  const std::size_t capacity_;
  mutable support::ForkSafeMutex mutex_;
  std::unordered_map<support::Hash, std::shared_ptr<const T>> entries_;
  std::deque<support::Hash> order_;
};

}  // namespace metalloid::runtime
