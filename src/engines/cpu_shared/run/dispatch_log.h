// The messages of one dispatch, from all its workers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/cpu_shared/run/log_buffer.h"
#include "engines/engine.h"

namespace metalloid::engines::cpu {

class DispatchLog {
 public:
  // Not for several threads at a time.
  void take_from(LogBuffer& buffer);
  // In the order of threadgroups, within the limits of one dispatch.
  void deliver(const std::string& kernel, const DispatchPlan& plan);

 private:
  void shorten();
  std::vector<LogBuffer::Line> lines_;
  std::uint64_t lost_ = 0;
};

}  // namespace metalloid::engines::cpu
