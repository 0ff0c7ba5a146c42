// A place in a stream's work, and when it was reached.
#pragma once

#include <metalloid/queue.h>

#include <chrono>
#include <memory>

namespace metalloid::torch_device {

// One that was never recorded has been reached.
class Event {
 public:
  void record(Stream& stream);
  void forget() { last_ = nullptr; }

  bool is_recorded() const { return last_ != nullptr; }
  bool is_reached() const { return !last_ || last_->reached.value() != 0; }
  void wait() const;                 // the calling thread
  void block(Stream& stream) const;  // what the stream is given next
  // Once it is reached.
  std::chrono::steady_clock::time_point time() const { return last_->time; }

 private:
  struct Record {
    SharedEvent reached;
    std::chrono::steady_clock::time_point time;
  };
  std::shared_ptr<Record> last_;
};

// Milliseconds between two that were recorded. Waits for them.
double milliseconds_between(const Event& from, const Event& to);

}  // namespace metalloid::torch_device
