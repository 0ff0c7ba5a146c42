// What kernels run on: a processor with its memory and its limits. Each device of the machine is one object, also where
// several are equal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engines/memory.h"
#include "engines/stream.h"
#include "metalloid/reflection.h"

namespace metalloid::engines {

// DLPack's DLDevice.
struct ArrayDevice {
  static constexpr int host = 1, cuda = 2, extension = 12;

  int kind = host;
  int number = 0;
  bool operator==(const ArrayDevice&) const = default;
};

// What hardware can do at most.
struct Peak {
  double flops = 0;             // per second, of single precision, a fused multiply-add is two
  double bytes_per_second = 0;  // of its memory
  unsigned processors = 0;
};

class Hardware {
 public:
  virtual ~Hardware() = default;
  virtual std::string description() const = 0;  // for people: "2 x znver4"
  // For the engines that compile for it: equal hardware says the same, on every machine.
  virtual std::string processor() const = 0;
  // What its kernels reach fastest.
  virtual Memory& memory() = 0;
  // What both its kernels and the host reach.
  virtual Memory& shared_memory() = 0;
  // Whether kernels may be given addresses of that memory.
  virtual bool can_reach(const Memory& memory) const = 0;
  virtual Limits limits() const { return {}; }
  // Whether its streams do what they are given before they return.
  virtual bool runs_at_call() const { return true; }
  virtual std::unique_ptr<Stream> make_stream() { return std::make_unique<ImmediateStream>(); }
  // Over a stream of its own kind that somebody else made; null if it has no such thing.
  virtual std::unique_ptr<SharedStream> share_stream(std::uintptr_t /*native*/) { return nullptr; }
  // Code is compiled that will be loaded: what loading it needs can be made ready meanwhile, by another thread.
  virtual void expect_code() {}
  // By its own numbers; nothing where it has to be measured.
  virtual std::optional<Peak> peak() const { return std::nullopt; }
  // How arrays that are in its memory name it.
  virtual ArrayDevice array_device() const { return {}; }
  // Stops all that runs on it now. May be called from signal handlers.
  virtual void interrupt() noexcept = 0;
};

}  // namespace metalloid::engines
