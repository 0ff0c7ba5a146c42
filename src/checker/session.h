// What the session that exists now has found: the checker's parts put their findings here.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "checker/inherited.h"
#include "checker/report/source_lines.h"
#include "checker/report/suppressions.h"
#include "checker/run/kept_memory.h"
#include "metalloid/check.h"
#include "support/fork_safe_mutex.h"

namespace metalloid {

// Safe to use from several threads, but for `options`, which never change.
struct CheckSession::State {
  explicit State(CheckOptions options);

  const CheckOptions options;
  checker::KeptMemory kept_memory;
  bool looks_for(CheckClass kind) const { return options.classes[static_cast<std::size_t>(kind)]; }

  // Leaves out what nobody looks for and what is suppressed, and counts what was found before: of the same class in
  // the same places, the most severe is kept. Fills in the lines of places that have none; `source` knows them.
  void add(Finding finding, checker::SourceLines& source);
  // `is_examined`: lane by lane, as something may have been wrong.
  void count_dispatch(bool is_examined);
  // In a forked child, which has a copy of what its parent found: only what it finds itself is told to whom the folder
  // of METALLOID_CHECK belongs. Without that it goes on with the copy.
  void come_to_this_process();
  void report_to(std::filesystem::path folder);
  // What is new, if somebody else reads it.
  void write_report();

  std::vector<Finding> findings() const;
  std::vector<Finding> take_findings();
  std::uint64_t lost() const;
  std::uint64_t suppressed() const;
  std::uint64_t dispatches() const;
  std::uint64_t examined() const;

 private:
  enum class Fate : std::uint8_t { kept, lost, suppressed };
  struct Known {
    Fate fate;
    std::size_t index;  // of a kept one
  };
  // With the lock. True if there is nothing more to do: it was known, and is counted.
  bool count_again(const std::string& key, const Finding& finding);

  const checker::Suppressions suppressions_;
  mutable support::ForkSafeMutex mutex_;
  std::vector<Finding> findings_;
  std::unordered_map<std::string, Known> known_;
  std::uint64_t lost_ = 0, suppressed_ = 0, dispatches_ = 0, examined_ = 0;
  std::atomic<pid_t> process_;
  std::shared_ptr<checker::ProcessReport> report_;  // null: nobody but the session's owner asks
  bool is_reported_ = true;
};

namespace checker {

// The newest; null if none exists. Whoever holds it may go on adding when the session has ended; nobody sees that any
// more.
std::shared_ptr<CheckSession::State> active_session();

// To the active session, if there is one, with lines from files alone.
void add_finding(Finding finding);

}  // namespace checker
}  // namespace metalloid
