// Loaded kernels of the CUDA engine.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engines/cuda/code/code_file.h"
#include "engines/cuda/run/gpu.h"
#include "engines/cuda/run/gpu_module.h"
#include "engines/cuda/run/waiting.h"
#include "engines/engine.h"
#include "support/watchdog.h"

namespace metalloid::engines::cuda {

class GpuExecutable;

// On its way, and somebody waits.
class Launch {
 public:
  // Hands the dispatch to the queue, so many times.
  Launch(const GpuExecutable& executable, const DispatchPlan& plan, Gpu& gpu, Queue& queue, std::uint32_t calls = 1);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Whether it has, as far as is known without the driver.
  bool has_ended() const { return queue_.is_ended(slot_); }
  // Returns when it is done. Throws what became of it.
  void wait();

 private:
  void stop() noexcept;
  bool is_done() const;
  void wait_for_end(const support::WatchdogTimer& timer);

  const GpuExecutable& executable_;
  Gpu& gpu_;
  Queue& queue_;
  const Size threads_per_grid_, threads_per_threadgroup_;
  const std::chrono::milliseconds timeout_;
  WaitedSlot slot_;
  StopRequest stop_;
};

class GpuExecutable final : public Executable {
 public:
  GpuExecutable(std::span<const char> bytes, const KernelInfo& info, Gpu& gpu,
                std::unique_ptr<const AssemblyStore> store);
  ~GpuExecutable() override;
  GpuExecutable(const GpuExecutable&) = delete;
  GpuExecutable& operator=(const GpuExecutable&) = delete;

  bool takes(const DispatchPlan& plan) const override;
  bool takes_but_for_overlaps(const DispatchPlan& plan) const override;
  bool gains_by_size(const DispatchPlan& plan) const override;
  std::uint32_t max_threads_per_threadgroup() const override;
  void run(const DispatchPlan& plan) const override;
  std::optional<std::chrono::duration<double>> time(const DispatchPlan& plan, std::uint32_t calls) const override;
  std::vector<std::pair<std::string, std::string>> resources(std::uint32_t threads) const override;

  // In the GPU's context, which the caller has entered.
  void launch(const DispatchPlan& plan, Handle stream, const ReportSlot& report) const;
  const KernelInfo& info() const { return info_; }
  bool logs() const { return facts_.logs != 0; }
  bool may_not_end() const { return facts_.may_not_end != 0; }

 private:
  // Threadgroups of each size have code of their own, as far as there is room for it.
  bool is_for_sizes() const { return facts_.counts_threads != 0 && facts_.threads[0] == 0; }
  bool takes_shape(const DispatchPlan& plan) const;
  bool takes_overlaps(const DispatchPlan& plan) const;
  const GpuModule& module() const;  // loaded when it is first asked for
  void make_room_for_recursion() const;
  // Whether no buffer that may be written lies where another one lies.
  bool are_apart(const DispatchPlan& plan) const;

  Gpu& gpu_;
  const KernelInfo info_;
  CodeFile file_;
  const KernelFacts facts_;
  const std::unique_ptr<const AssemblyStore> store_;
  mutable std::atomic<const GpuModule*> module_ = nullptr;
};

std::unique_ptr<Executable> load_executable(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware,
                                            std::unique_ptr<const AssemblyStore> store);

}  // namespace metalloid::engines::cuda
