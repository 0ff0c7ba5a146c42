// What kernels run on: a processor with its memory and its limits. Each device of the machine is one object, also where
// several are equal.
#pragma once

#include <memory>

#include "engines/memory.h"
#include "engines/stream.h"
#include "metalloid/reflection.h"

namespace metalloid::engines {

class Hardware {
 public:
  virtual ~Hardware() = default;
  virtual Memory& memory() = 0;
  virtual Limits limits() const { return {}; }
  // Whether its streams do what they are given before they return.
  virtual bool runs_at_call() const { return true; }
  virtual std::unique_ptr<Stream> make_stream() { return std::make_unique<ImmediateStream>(); }
  // Stops all that runs on it now. May be called from signal handlers.
  virtual void interrupt() noexcept = 0;
};

}  // namespace metalloid::engines
