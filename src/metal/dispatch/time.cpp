// Times as dispatch counts them: nanoseconds of the steady clock, or, with the highest bit, of the calendar's.
#include <algorithm>

#include "metal/dispatch/work.h"

namespace {

using Steady = std::chrono::steady_clock;
using System = std::chrono::system_clock;
using std::chrono::nanoseconds;

constexpr dispatch_time_t of_calendar = 1ull << 63;

template <typename Clock>
std::int64_t now() {
  return std::chrono::duration_cast<nanoseconds>(Clock::now().time_since_epoch()).count();
}

dispatch_time_t later(std::int64_t from, std::int64_t by, dispatch_time_t flag) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(from, by, &sum)) return by > 0 ? DISPATCH_TIME_FOREVER : flag | 1;
  return flag | static_cast<dispatch_time_t>(std::max<std::int64_t>(sum, 1));
}

}  // namespace

std::optional<Steady::time_point> metalloid::dispatch::time_point_of(dispatch_time_t time) {
  if (time == DISPATCH_TIME_FOREVER) return std::nullopt;
  if (time == DISPATCH_TIME_NOW || time == DISPATCH_WALLTIME_NOW) return Steady::now();
  const auto count = static_cast<std::int64_t>(time & ~of_calendar);
  return time & of_calendar ? Steady::now() + nanoseconds(count - now<System>())
                            : Steady::time_point(nanoseconds(count));
}

extern "C" {

dispatch_time_t dispatch_time(dispatch_time_t when, int64_t by) {
  if (when == DISPATCH_TIME_FOREVER) return when;
  if (when == DISPATCH_TIME_NOW) return later(now<Steady>(), by, 0);
  if (when == DISPATCH_WALLTIME_NOW) return later(now<System>(), by, of_calendar);
  return later(static_cast<std::int64_t>(when & ~of_calendar), by, when & of_calendar);
}

dispatch_time_t dispatch_walltime(const timespec* when, int64_t by) {
  const std::int64_t from = when ? std::int64_t{when->tv_sec} * 1'000'000'000 + when->tv_nsec : now<System>();
  return later(from, by, of_calendar);
}

}  // extern "C"
