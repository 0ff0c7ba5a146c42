// A stream on which work is done some time after it was enqueued, on a thread of its own.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace metalloid::engines::trial {

// Whose code such a stream calls.
class DeferredExecutable : public Executable {
 public:
  virtual void run_now(const DispatchPlan& plan) const = 0;
};

// Of DeferredExecutables alone.
std::unique_ptr<Stream> make_deferring_stream();
// The same for others to share, whatever number it has.
std::unique_ptr<SharedStream> make_deferring_shared_stream();

}  // namespace metalloid::engines::trial
