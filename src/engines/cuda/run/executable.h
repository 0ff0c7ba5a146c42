// Loaded kernels of the CUDA engine.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "engines/cuda/run/gpu.h"
#include "engines/engine.h"

namespace metalloid::engines::cuda {

// On its way: what it needs until it is done.
class Launch {
 public:
  Launch(Gpu& gpu, Queue& queue) : gpu_(gpu), queue_(queue), slot_(queue.take()) {}
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  const ReportSlot& slot() const { return slot_; }
  // A copy in the GPU's memory that is there as long as the launch.
  Address keep(std::span<const std::byte> bytes);
  // Returns when it is done. Throws what became of it.
  void wait(const KernelInfo& kernel, const DispatchPlan& plan);

 private:
  bool is_done() const;
  void stop() noexcept;

  Gpu& gpu_;
  Queue& queue_;
  ReportSlot slot_;
  std::vector<Address> kept_;
  std::atomic<bool> is_stopped_{false};
};

class GpuExecutable final : public Executable {
 public:
  GpuExecutable(std::span<const char> bytes, const KernelInfo& info, Gpu& gpu);
  ~GpuExecutable() override;
  GpuExecutable(const GpuExecutable&) = delete;
  GpuExecutable& operator=(const GpuExecutable&) = delete;

  bool takes(const DispatchPlan& plan) const override;
  std::uint32_t max_threads_per_threadgroup() const override;
  void run(const DispatchPlan& plan) const override;

  // Hands the dispatch to the queue.
  std::unique_ptr<Launch> launch(const DispatchPlan& plan, Queue& queue) const;
  const KernelInfo& info() const { return info_; }

 private:
  Gpu& gpu_;
  const KernelInfo info_;
  KernelFacts facts_;
  Handle module_ = nullptr, function_ = nullptr;
  std::uint32_t most_threads_ = 0;
};

std::unique_ptr<Executable> load_executable(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware);

}  // namespace metalloid::engines::cuda
