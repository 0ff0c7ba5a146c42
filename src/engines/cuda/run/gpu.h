// A GPU of this machine.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engines/cuda/driver/driver.h"
#include "engines/cuda/kernel_abi.h"
#include "engines/hardware.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {

class Gpu;

// What a launch is given to report in, in the GPU's memory, and words in the host's.
struct ReportSlot {
  Address report = 0;                  // a Report
  volatile HostWords* host = nullptr;  // at the same address for the GPU
};

// Of a launch for which somebody waits.
struct WaitedSlot : ReportSlot {
  std::uint32_t number = 0;  // among its queue's launches
  Handle event = nullptr;    // behind the launch, where the driver does not write words
};

// Launches of one queue of the driver's, in order. One thread launches, and any may wait.
class Queue {
 public:
  explicit Queue(Gpu& gpu);
  Handle handle() const { return handle_; }
  // Free ones wait in the queue.
  WaitedSlot take();
  void give_back(WaitedSlot slot);

  // Behind the slot's launch. Every thirty-second marks the ends.
  void count(WaitedSlot& slot);
  // Behind all launches so far: the driver is to write a number to a word of the host's memory there, which is read
  // without it. One mark does for many launches.
  void mark_ends();
  // The same by another thread than the one that launches, which goes first: the driver does one thing at a time.
  void mark_ends_between_launches(const WaitedSlot& slot);
  bool is_ended(const WaitedSlot& slot) const;
  // Asks the driver, which knows of failures.
  bool is_idle() const;

 private:
  int write_number(std::uint32_t number) const;
  bool is_marked(const WaitedSlot& slot) const;

  Gpu& gpu_;
  Handle handle_ = nullptr;
  std::uint32_t* ended_ = nullptr;  // the last launch that is known to have ended; null: events say it
  std::atomic<std::uint32_t> launched_ = 0, marked_ = 0;  // modulo 2^32
  std::mutex marking_;
  std::mutex mutex_;  // of what follows
  std::vector<WaitedSlot> free_;
};

// While it lives the calling thread's calls of the driver are meant for one context. Then they are again for the one
// before: what other libraries take for the thread's GPU is theirs to choose.
class [[nodiscard]] Entered {
 public:
  explicit Entered(Handle context);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Handle before_ = nullptr;
  bool is_other_ = false;
};

// While it lives the calling thread may allocate although a stream is captured into a graph.
class [[nodiscard]] OutsideOfCapture {
 public:
  OutsideOfCapture();
  ~OutsideOfCapture();
  OutsideOfCapture(const OutsideOfCapture&) = delete;
  OutsideOfCapture& operator=(const OutsideOfCapture&) = delete;

 private:
  int mode_;
};

class Gpu final : public Hardware {
 public:
  explicit Gpu(int ordinal);
  ~Gpu() override;

  std::string description() const override { return name_; }
  std::string processor() const override { return processor_; }
  Memory& memory() override { return *memory_; }
  Memory& shared_memory() override { return *managed_; }
  bool can_reach(const Memory& memory) const override { return &memory == memory_.get() || &memory == managed_.get(); }
  bool runs_at_call() const override { return false; }
  std::unique_ptr<Stream> make_stream() override;
  std::unique_ptr<SharedStream> share_stream(std::uintptr_t native) override;
  void expect_code() override;
  ArrayDevice array_device() const override { return {ArrayDevice::cuda, ordinal_}; }
  std::optional<Peak> peak() const override;
  int threads_of_multiprocessor() const;
  void interrupt() noexcept override;

  // Its primary context, made when first needed, is the one that other libraries of the process use.
  // Throws if the GPU is lost.
  Entered enter();
  // From now on: calls of the driver could wait for a kernel that never ends.
  void lose(ErrorCode code, const std::string& why);
  void require() const;
  Handle context() const { return context_; }

  // For dispatches whose caller waits.
  std::unique_ptr<Queue> take_queue();
  void give_back(std::unique_ptr<Queue> queue);
  // For launches on streams of others, which nobody waits for: they are handed out in turn, and none is allocated while
  // a graph is captured, once one has been. Each has a word of its own.
  ReportSlot shared_slot();

 private:
  struct SharedSlots;
  void get_ready() noexcept;
  const int ordinal_;  // among the driver's devices
  int device_ = 0;
  std::string name_, processor_;
  std::unique_ptr<Memory> memory_, managed_;
  std::mutex mutex_;
  std::atomic<Handle> context_ = nullptr;
  std::atomic<bool> is_lost_ = false;
  ErrorCode code_lost_{};  // once it is, and why
  std::string why_lost_;
  std::vector<std::unique_ptr<Queue>> idle_;
  std::unique_ptr<SharedSlots> shared_slots_;
  std::once_flag expects_code_;
};

// All that the driver offers and the engine has code for. They live as long as the process.
std::vector<Gpu*> gpus();
// Why there are none although there is a driver; empty if there is no driver.
std::string reason_without_gpus();

}  // namespace metalloid::engines::cuda
