// The order that barriers make among the threads of a threadgroup. Each simdgroup has a clock, which goes on at each
// barrier that its threads come to; an access is stamped with the time of its simdgroup. Of each memory is kept up to
// which time of a simdgroup a barrier that names it has ordered the accesses.
#pragma once

#include <array>
#include <cstdint>

namespace metalloid::checker {

enum class Space : std::uint8_t { device, threadgroup };

// How an access relates to a later one of another thread of the threadgroup.
enum class Order : std::uint8_t {
  ordered,
  met,  // both came to a barrier between, which does not name the memory
  unordered,
};

class Clock {
 public:
  void begin_threadgroup() { *this = Clock(); }

  std::uint32_t time(std::uint32_t simdgroup) const { return times_[simdgroup]; }

  Order order(Space space, std::uint32_t from_simdgroup, std::uint32_t time, std::uint32_t to_simdgroup) const {
    const auto index = static_cast<std::size_t>(space);
    const bool same = from_simdgroup == to_simdgroup;
    if (time < fenced_[index][from_simdgroup]) return Order::ordered;
    if (same && time < fenced_within_[index][from_simdgroup]) return Order::ordered;
    if (time < met_[from_simdgroup] || (same && time < times_[from_simdgroup])) return Order::met;
    return Order::unordered;
  }

  // Whether all threads of the threadgroup see what was done then.
  bool is_over(Space space, std::uint32_t simdgroup, std::uint32_t time) const {
    return time < fenced_[static_cast<std::size_t>(space)][simdgroup];
  }

  // All threads of the threadgroup have come to a barrier.
  void threadgroup_barrier(bool device, bool threadgroup) {
    for (std::uint32_t simdgroup = 0; simdgroup < times_.size(); ++simdgroup) {
      met_[simdgroup] = ++times_[simdgroup];
      if (device) fenced_[0][simdgroup] = times_[simdgroup];
      if (threadgroup) fenced_[1][simdgroup] = times_[simdgroup];
    }
  }

  void simdgroup_barrier(std::uint32_t simdgroup, bool device, bool threadgroup) {
    ++times_[simdgroup];
    if (device) fenced_within_[0][simdgroup] = times_[simdgroup];
    if (threadgroup) fenced_within_[1][simdgroup] = times_[simdgroup];
  }

 private:
  using Times = std::array<std::uint32_t, 32>;  // by simdgroup
  Times times_{}, met_{};
  std::array<Times, 2> fenced_{}, fenced_within_{};  // by Space
};

}  // namespace metalloid::checker
