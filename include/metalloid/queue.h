// Work in order: queues, what they run, and what they and the host wait for. Metal's MTLCommandQueue, MTLCommandBuffer
// and MTLSharedEvent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "metalloid/dispatch.h"

namespace metalloid {

// A number that grows, for which queues and the host wait. Cheap to copy. interrupt_kernels() ends all waits.
class SharedEvent {
 public:
  SharedEvent();  // 0

  std::uint64_t value() const;
  // By the host. A value below the present one is taken too, as on a Mac.
  void signal(std::uint64_t value) const;
  // Until the value is at least that. Returns false if it is not within the time.
  bool wait(std::uint64_t value, std::chrono::milliseconds patience = std::chrono::milliseconds::max()) const;
  // Calls the function with the value once that is at least so much: now, or in the thread that signals.
  void notify(std::uint64_t value, std::function<void(std::uint64_t)> function) const;
  bool operator==(const SharedEvent&) const = default;

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// A list of work that is recorded first and runs later, in its queue's order. Cheap to copy. What is recorded after
// commit() is refused with invalid_argument.
//
// Where a dispatch fails, the rest of the list is not carried out but for its signals, on which others wait, and what
// the hardware has been given already; what comes after the list is.
class CommandBuffer {
 public:
  enum class Status : std::uint8_t { not_enqueued, enqueued, committed, scheduled, completed, failed };

  struct Times {
    using Clock = std::chrono::steady_clock;
    Clock::time_point scheduled, begin, end;  // taken from the queue; begin and end of what it did
  };

  // Arguments are checked now: throws invalid_argument or limit_exceeded, also for a kernel of another device.
  void dispatch(Kernel kernel, Dispatch dispatch);
  // Throw invalid_argument for bytes outside of a buffer.
  void copy(const Buffer& from, std::size_t from_offset, const Buffer& to, std::size_t to_offset, std::size_t bytes);
  void fill(const Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value);
  void signal(const SharedEvent& event, std::uint64_t value);
  void wait(const SharedEvent& event, std::uint64_t value);
  // Host code between the others.
  void call(std::function<void()> work);

  // Before commit(). In the order in which they were added, on a thread of the queue's own; who waits for completion
  // goes on when the last has returned. What they throw is dropped.
  void on_scheduled(std::function<void(const CommandBuffer&)> handler);
  void on_completed(std::function<void(const CommandBuffer&)> handler);

  void enqueue();  // reserves the place in the queue's order, which commit() takes otherwise
  void commit();
  void wait_until_scheduled() const;
  void wait_until_completed() const;

  Status status() const;
  std::exception_ptr error() const;  // the first; none unless it failed
  Times times() const;               // once completed

  struct State;
  explicit CommandBuffer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

// Work that was submitted alone.
class Submission {
 public:
  void wait() const;  // throws the work's error, every time it is called
  bool finished() const;

  explicit Submission(CommandBuffer buffer) : buffer_(std::move(buffer)) {}

 private:
  CommandBuffer buffer_;
};

// Runs work of a device in order, on a thread of its own or where commit() hands it to hardware that does it later;
// different queues run side by side.
class Queue {
 public:
  explicit Queue(Device device);
  ~Queue();  // waits for what was committed
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  CommandBuffer command_buffer();

  // A command buffer with this alone, committed. Arguments are checked now, as there.
  Submission submit(Kernel kernel, Dispatch dispatch);
  Submission submit(std::function<void()> work);
  void wait();  // for all committed so far; throws the first error since the last wait()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Work in order that the host gives piece by piece, as frameworks do. What can be done at once is done in the caller's
// thread before the call returns, and throws there: on devices that are the host's processor that is all, unless the
// stream waits for an event. Elsewhere calls return early, and the next synchronize() throws what went wrong. May be
// used by several threads.
class Stream {
 public:
  explicit Stream(Device device);
  // Over a stream of the device's own kind that others give work to as well (CUDA: a CUstream, 0 the default one), and
  // that outlives this. Work is on it when the call returns. Memory that it uses is the caller's to keep until then;
  // who reads what kernels wrote joins the order of that stream, and need not synchronize. Work of the host, and memory
  // of the host that a kernel writes, wait for the stream. A call throws what an earlier kernel was found to have done
  // wrong. A kernel's timeout counts while synchronize() waits. Throws unsupported if the device has none.
  Stream(Device device, std::uintptr_t native);
  ~Stream();  // waits for work of its own, not for what is on a stream of others
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const Device& device() const;
  // Throws invalid_argument or limit_exceeded now. A kernel of another device has finished when this returns, as has
  // any under a CheckSession.
  void dispatch(const Kernel& kernel, const Dispatch& dispatch);
  void call(std::function<void()> work);  // host code, when all before it is done
  void signal(const SharedEvent& event, std::uint64_t value);
  void wait(const SharedEvent& event, std::uint64_t value);  // what is given next

  // Where host interfaces of the calling thread put their work, so that it is in one order: what was made current in
  // the thread, else the process's own stream, of Device::configured().
  static Stream& current();
  static void make_current(Stream& stream);  // which lives as long as the thread uses it
  static Stream& of_process();

  // What is given next begins when all that is on another stream of the device's kind by now is done.
  void wait_for_native(std::uintptr_t native);

  bool is_idle() const;  // all is done
  // Waits for all that was given. Throws the first error since the last call.
  void synchronize();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace metalloid
