// A value that is made when it is first asked for, in place of a function's static variable.
#pragma once

#include <atomic>
#include <memory>

namespace metalloid::support {

// Never half made: a child that is forked while another thread makes a static variable waits for that thread, which it
// does not have, for ever. Here threads that ask at the same time each make the value, and the first one stays until
// the process ends. Made before anything of the program runs (`constinit`).
template <typename T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  template <typename Make>
  T& get(Make make) {
    if (T* made = if_made()) return *made;
    std::unique_ptr<T> fresh(new T(make()));
    T* first = nullptr;
    if (!value_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return *first;
    return *fresh.release();
  }
  // Null before that. For signal handlers too.
  T* if_made() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> value_{nullptr};
};

}  // namespace metalloid::support
