// Work of the runtime's queues on a GPU.
#pragma once

#include <memory>

#include "engines/cuda/run/executable.h"
#include "engines/stream.h"

namespace metalloid::engines::cuda {

// Launches at once. Who waits for a launch finds out what became of it: no thread does that meanwhile.
class GpuStream final : public Stream {
 public:
  explicit GpuStream(Gpu& gpu) : gpu_(gpu), queue_(gpu.take_queue()) {}
  ~GpuStream() override;
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  std::shared_ptr<Completion> enqueue(const Executable& executable, const DispatchPlan& plan, Timing timing) override;

 private:
  Gpu& gpu_;
  std::unique_ptr<Queue> queue_;
  std::weak_ptr<Completion> last_;
};

}  // namespace metalloid::engines::cuda
