#include "runtime/cache/entry_turn.h"

#include <thread>

namespace metalloid::runtime {

EntryTurn::EntryTurn(EntryKind kind, const support::Hash& key, std::chrono::milliseconds patience) {
  const auto folder = cache_folder("turns");
  if (!folder) return;
  const support::Hash name = support::Hasher().add(static_cast<std::uint32_t>(kind)).add(key).finish();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (lock_.take(*folder, name) == support::PrivateLock::Taken::by_another) {
    has_waited_ = true;
    if (std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace metalloid::runtime
