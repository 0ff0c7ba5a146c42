// Waiting for a GPU's work, and ending it.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "engines/cuda/run/gpu.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// What the driver says of work: whether it is done. Throws kernel_crashed if it failed.
bool is_success(int result);

// Whether what is given to the stream becomes part of a graph, which runs later.
bool is_captured(Handle stream);

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
