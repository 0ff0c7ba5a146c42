// A GPU of this machine.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/cuda/driver/driver.h"
#include "engines/cuda/kernel_abi.h"
#include "engines/hardware.h"

namespace metalloid::engines::cuda {

class Gpu;

// What a launch is given to report in: words in the GPU's memory, and one in the host's.
struct ReportSlot {
  Address report = 0;                             // a Report
  volatile std::uint32_t* is_reported = nullptr;  // at the same address for the GPU
  Handle event = nullptr;                         // behind the launch
};

// Launches of one queue of the driver's, in order.
class Queue {
 public:
  explicit Queue(Gpu& gpu);
  Handle handle() const { return handle_; }
  // Free ones wait in the queue.
  ReportSlot take();
  void give_back(ReportSlot slot);

 private:
  Gpu& gpu_;
  Handle handle_ = nullptr;
  std::mutex mutex_;
  std::vector<ReportSlot> free_;
};

class Gpu final : public Hardware {
 public:
  explicit Gpu(int ordinal);

  std::string description() const override { return name_; }
  std::string processor() const override { return processor_; }
  Memory& memory() override { return *memory_; }
  Memory& shared_memory() override { return *managed_; }
  bool can_reach(const Memory& memory) const override { return &memory == memory_.get() || &memory == managed_.get(); }
  bool runs_at_call() const override { return false; }
  std::unique_ptr<Stream> make_stream() override;
  void interrupt() noexcept override;

  // The calling thread's calls of the driver are meant for this one from now on. Its context, made when first needed,
  // is the one that other libraries of the process use.
  void enter();

  // For dispatches whose caller waits.
  std::unique_ptr<Queue> take_queue();
  void give_back(std::unique_ptr<Queue> queue);
  // Work that overtakes kernels.
  Handle control_queue();

 private:
  int device_ = 0;
  std::string name_, processor_;
  std::unique_ptr<Memory> memory_, managed_;
  std::mutex mutex_;
  Handle context_ = nullptr, control_ = nullptr;
  std::vector<std::unique_ptr<Queue>> idle_;
};

// All that the driver offers and the engine has code for. They live as long as the process.
std::vector<Gpu*> gpus();
// Why there are none although there is a driver; empty if there is no driver.
std::string reason_without_gpus();

}  // namespace metalloid::engines::cuda
