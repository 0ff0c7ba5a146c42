// Work of C++ in the order of a dispatch queue.
#pragma once

namespace metalloid::metal {

// A turn in a queue (a dispatch_queue_t), from construction to destruction, in this thread: what dispatch_sync gives a
// function. Within work of a serial queue another turn of it begins at once.
class Turn {
 public:
  explicit Turn(void* queue, bool barrier = false);
  struct Begun {};
  Turn(void* queue, Begun begun);  // it is this thread's already
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void* queue() const { return queue_; }
  const Turn* outer() const { return outer_; }

 private:
  void* queue_;
  const Turn* outer_;  // of this thread
  bool is_nested_;
};

}  // namespace metalloid::metal
