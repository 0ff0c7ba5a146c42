#include "support/environment.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "metalloid/error.h"

namespace metalloid::support {

double limit_from_environment(const char* name, const char* unit, double standard) {
  const char* text = std::getenv(name);
  if (!text || *text == '\0') return standard;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} is '{}': it must be a number of {}, 0 for no limit (unset: {})", name, text, unit, standard));
  }
  return value == 0 ? HUGE_VAL : value;
}

}  // namespace metalloid::support
