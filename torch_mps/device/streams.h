// Streams of "mps" by number. On devices that run kernels in the host's own threads, work has finished when its call
// returns; on others it goes on, and whatever hands elements of the device's memory to the host waits.
#pragma once

#include <c10/core/Stream.h>
#include <metalloid/queue.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace metalloid::torch_device {

constexpr std::int64_t pool_size = 32;  // streams beside the default one, as on a Mac

std::int64_t current_stream();  // of this thread; 0 is the default stream
void set_current_stream(std::int64_t id);
std::int64_t next_stream_of_pool();  // 1 to pool_size, in turn

// The work behind a number. Throws c10::ValueError for a number without a stream.
Stream& work_of(std::int64_t id);

inline c10::Stream stream_of(std::int64_t id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::MPS, 0), id);
}

// Whether a thread of autograd's for the device exists: it began with a backward pass.
bool autograd_has_threads();

// Waits for all that streams were given. Raises the first error of theirs that nobody has seen.
void wait_for_work();
// Calls the function when what streams have been given so far is done, and nobody holds off who did when this was
// called: now if that is so.
void after_work(std::function<void()> function) noexcept;
// For work that is on no stream, until the result is let go.
std::shared_ptr<void> hold_off();
// Waits, and raises what kernels reported through their error buffer. Whatever hands elements of the device's memory to
// the host calls it.
void synchronize();

}  // namespace metalloid::torch_device
