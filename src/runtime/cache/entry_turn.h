// Processes that want the same cache entry at the same time, such as the workers of a test run, make it once.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/cache/disk_cache.h"
#include "support/private_files.h"

namespace metalloid::runtime {

// Held by the process that makes an entry; others wait for it, then look for the entry again. Whoever ends, in whatever
// way, holds it no longer. Threads of one process do not wait for each other. Where there is no cache there is nothing
// to wait for, and nobody waits longer than `patience`: a turn saves work and guards nothing.
class EntryTurn {
 public:
  EntryTurn(EntryKind kind, const support::Hash& key, std::chrono::milliseconds patience = std::chrono::seconds(20));

  bool has_waited() const { return has_waited_; }

 private:
  support::PrivateLock lock_;
  bool has_waited_ = false;
};

// What `read` finds; nothing if the caller is to make it, and `turn` then lasts until others may look. Those who waited
// for nothing do not make the next one wait: it failed, and will again.
template <typename Read>
auto read_or_take_turn(std::optional<EntryTurn>& turn, EntryKind kind, const support::Hash& key, Read read) {
  auto entry = read();
  if (entry) return entry;
  turn.emplace(kind, key);
  if (!turn->has_waited()) return entry;
  turn.reset();
  return read();
}

}  // namespace metalloid::runtime
