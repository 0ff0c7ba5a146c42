// Where the work of a queue goes, one piece after the other.
#pragma once

#include <map>
#include <memory>

#include "engines/engine.h"
#include "engines/stream.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

// Used by the queue's thread. What is given begins when all before it is done.
class Issue {
 public:
  // The kernel, and what the plan points to, live until drain(). Throws what work before it has thrown.
  void dispatch(const Kernel& kernel, const engines::DispatchPlan& plan);
  // Waits for all that was given. Throws the first error since the last call.
  void drain();

 private:
  engines::Stream& stream_of(engines::Hardware& hardware);

  std::map<engines::Hardware*, std::unique_ptr<engines::Stream>> streams_;
  engines::Hardware* hardware_ = nullptr;  // of what is not known to be done
  std::vector<std::shared_ptr<const engines::Completion>> under_way_;
};

}  // namespace metalloid::runtime
