// What a worker's threads print while they run, until the host takes it. Writing allocates and locks nothing, for a
// kernel may be abandoned anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/dispatch_log.h"
#include "engines/log.h"

namespace metalloid::engines::cpu {

class LogBuffer {
 public:
  // Throws std::bad_alloc.
  void prepare();
  void begin_threadgroup(std::uint64_t index) { threadgroup_ = index; }
  // Called by threads. `where` lives as long as the code.
  void add(std::uint32_t thread, std::uint32_t level, const char* where, const char* subsystem, const char* category,
           const char* format, const LogArgument* arguments, std::uint32_t count);

  // All since the last call, and how many were lost.
  std::vector<LogLine> take(std::uint64_t& lost);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
  std::uint64_t lines_ = 0, lost_ = 0, threadgroup_ = 0;
};

}  // namespace metalloid::engines::cpu
