#include "isolation/compile_limits.h"

#include <algorithm>
#include <cstdint>

#include "support/environment.h"

namespace metalloid::isolation {

CompileLimits CompileLimits::from_environment(Clock::duration spent) {
  CompileLimits limits;
  limits.spent = spent;
  constexpr double longest = 365.0 * 24 * 3600;  // what lasts longer than a year is no limit
  const double seconds = support::limit_from_environment("METALLOID_COMPILE_TIMEOUT", "seconds", 120);
  if (seconds < longest) limits.limit = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3) + 1);
  const double mebibytes = support::limit_from_environment("METALLOID_COMPILE_MEMORY", "MiB", 4096);
  constexpr double most = 1ull << 40;  // more than 2^60 bytes are no limit
  if (mebibytes < most) limits.memory = std::max<std::uint64_t>(static_cast<std::uint64_t>(mebibytes * (1 << 20)), 1);
  return limits;
}

std::chrono::milliseconds CompileLimits::time_left() const {
  if (limit.count() == 0) return limit;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(limit - spent), std::chrono::milliseconds(1));
}

std::chrono::milliseconds CompileLimits::patience() const {
  constexpr int times = 20;  // as busy as machines are
  return limit * times;
}

bool CompileLimits::is_patience_over(Clock::time_point start) const {
  return limit.count() != 0 && Clock::now() - start >= patience();
}

}  // namespace metalloid::isolation
