// Dispatches on a stream that others give work to as well.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "engines/hardware.h"
#include "metalloid/dispatch.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

class SharedStream {
 public:
  // Throws unsupported if the hardware knows no such streams.
  SharedStream(const Device& device, std::uintptr_t native);

  // What the kernel only reads of the host's memory goes along as bytes; what it writes there, and all under a checker,
  // is the host's work, which waits for the stream.
  void dispatch(const Kernel& kernel, const Dispatch& dispatch);
  void wait_for(std::uintptr_t native);
  bool is_idle();
  void synchronize();

 private:
  // Code that was given to the stream stays loaded.
  void keep(const Kernel& kernel);

  engines::Hardware& hardware_;
  std::mutex mutex_;  // of what follows
  std::map<const Kernel::State*, Kernel> kernels_;
  const std::unique_ptr<engines::SharedStream> stream_;  // gone before the kernels are
};

}  // namespace metalloid::runtime
