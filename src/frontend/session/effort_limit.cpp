#include "frontend/session/effort_limit.h"

namespace metalloid::frontend {

void check_token_count(std::size_t count) {
  constexpr std::size_t max_tokens = 64 * 1024 * 1024;  // 1.5 GB of them
  if (count > max_tokens) throw EffortExceeded{"the source expands to more than 64 million tokens"};
}

}  // namespace metalloid::frontend
