// Work on streams that other libraries of the process made.
#pragma once

#include <atomic>
#include <chrono>
#include <unordered_map>
#include <vector>

#include "engines/cuda/run/executable.h"
#include "engines/stream.h"

namespace metalloid::engines::cuda {

// Launches and forgets: nothing is allocated and, but behind kernels that may not end, no event recorded, so that
// launches can be captured into a graph. What
// goes wrong a kernel leaves in memory that is its own on this stream, and it sets the stream's word.
class GpuSharedStream final : public SharedStream {
 public:
  GpuSharedStream(Gpu& gpu, Handle handle);
  ~GpuSharedStream() override;
  GpuSharedStream(const GpuSharedStream&) = delete;
  GpuSharedStream& operator=(const GpuSharedStream&) = delete;
  void enqueue(const Executable& executable, const DispatchPlan& plan) override;
  void wait_for(std::uintptr_t other) override;
  bool is_idle() override;
  bool can_wait() override;
  void synchronize() override;

 private:
  // Where launches of a kernel in one shape report.
  struct Place {
    const GpuExecutable* executable;
    Size threads_per_grid, threads_per_threadgroup;
    Address report;
  };
  const Place& place_of(const GpuExecutable& executable, const DispatchPlan& plan);
  void stop() noexcept;
  // Returns when kernels that may not end have ended, or were ended because their time was over.
  void wait_for_ends();
  // Returns when the GPU has nothing to do.
  void wait_for_all();

  Gpu& gpu_;
  const Handle handle_;
  Handle event_ = nullptr;
  Handle behind_endless_ = nullptr;       // an event behind the last kernel that may not end
  std::atomic<bool> may_not_end_{false};  // such a kernel was launched
  const ReportSlot own_;                  // whose word is the stream's
  std::unordered_map<const GpuExecutable*, std::vector<Place>> places_;
  // The longest of kernels that may not end since the stream was idle; 0: none.
  std::atomic<std::chrono::milliseconds> timeout_{};
  const GpuExecutable* last_ = nullptr;
  StopRequest stop_;
  std::atomic<bool> is_interrupted_{false};
};

}  // namespace metalloid::engines::cuda
