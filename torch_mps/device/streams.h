// Streams and events of "mps". Kernels have finished when their call returns, so a stream is a number and an event a
// time.
#pragma once

#include <c10/core/Stream.h>

#include <chrono>
#include <cstdint>

namespace metalloid::torch_device {

constexpr std::int64_t pool_size = 32;  // streams beside the default one, as on a Mac

std::int64_t current_stream();  // of this thread; 0 is the default stream
void set_current_stream(std::int64_t id);
std::int64_t next_stream_of_pool();  // 1 to pool_size, in turn

inline c10::Stream stream_of(std::int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::MPS, 0), id);
}

struct Event {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
  bool has_time = false;
};

// Whether a thread of autograd's for the device exists: it began with a backward pass.
bool autograd_has_threads();

// Raises what kernels reported through their error buffer (TORCH_REPORT_ERROR), as a c10::AcceleratorError. Whatever
// hands elements of the device's memory to the host calls it.
void synchronize();

}  // namespace metalloid::torch_device
