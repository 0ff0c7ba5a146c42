// The messages of one dispatch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metalloid/dispatch.h"

namespace metalloid::engines {

// A message as an engine found it.
struct LogLine {
  std::uint64_t threadgroup;
  std::uint32_t thread, level;  // the thread's index in its threadgroup
  std::string where;            // "blur.metal:12"
  std::string subsystem, category, text;
};

class DispatchLog {
 public:
  // Not for several threads at a time. `lost`: messages that there was no room for.
  void add(std::vector<LogLine> lines, std::uint64_t lost);
  // In the order of threadgroups, within the limits of one dispatch.
  void deliver(const std::string& kernel, const Size& threads_per_grid, const Size& threads_per_threadgroup);

 private:
  void shorten();
  std::vector<LogLine> lines_;
  std::uint64_t lost_ = 0;
};

}  // namespace metalloid::engines
