// Which process something belongs to: a forked child has the parent's queues without their threads.
#pragma once

#include <string_view>

namespace metalloid::runtime {

class Process {
 public:
  bool is_this() const { return forks_ == forks(); }
  // Throws invalid_argument if it is not.
  void require(std::string_view what) const;

 private:
  // How many led to this process since the library was loaded. To ask for the process's number takes longer.
  static unsigned forks();

  unsigned forks_ = forks();
};

}  // namespace metalloid::runtime
