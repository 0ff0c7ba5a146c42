// Waiting for a GPU's work, and ending it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engines/cuda/run/gpu.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// What the driver says of work: whether it is done. Throws kernel_crashed if it failed.
bool is_success(int result);

// Whether what is given to the stream becomes part of a graph, which runs later.
bool is_captured(Handle stream);

// A kernel that was told to end, by who watches the time.
class StopRequest {
 public:
  // Again and again.
  void make() noexcept;
  bool is_made() const { return since_.load() != none; }
  // For longer than loops take to look for it: what waits in the hardware, lanes for each other, never does.
  bool is_ignored() const;
  bool withdraw() { return since_.exchange(none) != none; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep none = 0;
  std::atomic<Clock::rep> since_{none};
};

// Loses the GPU for all that comes, since nothing ends the kernel.
void throw_endless(Gpu& gpu, const KernelInfo& kernel, bool is_interrupted, std::chrono::milliseconds timeout);

// Of a kernel whose loops were ended.
[[noreturn]] void throw_stopped(const KernelInfo& kernel, bool is_interrupted, std::chrono::milliseconds timeout);

template <typename IsDone>
void wait_until(IsDone is_done) {
  constexpr auto impatience = std::chrono::microseconds(200);  // how long it asks without a sleep
  constexpr auto pause = std::chrono::microseconds(2);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (!is_done()) {
    const auto waited = Clock::now() - begin;
    if (waited > impatience) {
      std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, std::chrono::milliseconds(1)));
    } else {
      // Who asks keeps the driver from launching.
      for (const auto next = begin + waited + pause; Clock::now() < next;) std::this_thread::yield();
    }
  }
}

}  // namespace metalloid::engines::cuda
