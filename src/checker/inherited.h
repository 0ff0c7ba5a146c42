// Processes that a checking one starts are checked, too: METALLOID_CHECK has the options and a folder, in which each of
// them leaves what it found. The one that checks sets it and reads the folder (python/metalloid/_checking.py).
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "metalloid/check.h"

namespace metalloid::checker {

// Lines of NAME=VALUE: folder, only, also, skip, strict, schedule, most_findings, and suppress for each pattern.
struct Inherited {
  CheckOptions options;
  std::filesystem::path folder;
};
// Nothing if the variable is not set. What is wrong with it is told on standard error.
std::optional<Inherited> inherited_session();

// This process's files in the folder: NAME.count has the number of dispatches, NAME.json what was found. They are
// written at once, whatever ends the process.
class ProcessReport {
 public:
  explicit ProcessReport(std::filesystem::path folder);
  void write_dispatches(std::uint64_t dispatches);
  // To standard error where the folder is gone: the process that would have read it has ended.
  void write_findings(std::span<const Finding> findings, std::uint64_t lost);

  std::mutex mutex;  // for whoever writes; a forked child has a report of its own

 private:
  const std::filesystem::path folder_;
  const std::string name_;
  std::size_t told_ = 0;  // findings, on standard error
};

}  // namespace metalloid::checker
