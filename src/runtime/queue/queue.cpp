#include "metalloid/queue.h"

#include <utility>

#include "runtime/queue/command_buffer.h"
#include "runtime/queue/line.h"

namespace metalloid {

void Submission::wait() const {
  buffer_.state().wait_until(CommandBuffer::Status::completed, "a submission");
  if (const auto error = buffer_.error()) std::rethrow_exception(error);
}

bool Submission::finished() const { return buffer_.state().is_done(); }

struct Queue::State {
  Device device;
  std::shared_ptr<runtime::Line> line = runtime::Line::begin();
};

Queue::Queue(Device device) : state_(std::make_unique<State>(State{device})) {}

Queue::~Queue() {
  if (state_->line->process.is_this()) {
    state_->line->end();
  } else {
    // No thread to wait for, and a mutex that may be locked for ever: what is left stays as it is.
    static_cast<void>(state_.release());
  }
}

CommandBuffer Queue::command_buffer() {
  return CommandBuffer(std::make_shared<CommandBuffer::State>(state_->device, state_->line));
}

Submission Queue::submit(Kernel kernel, Dispatch dispatch) {
  CommandBuffer buffer = command_buffer();
  buffer.dispatch(std::move(kernel), std::move(dispatch));
  buffer.commit();
  return Submission(std::move(buffer));
}

Submission Queue::submit(std::function<void()> work) {
  CommandBuffer buffer = command_buffer();
  buffer.call(std::move(work));
  buffer.commit();
  return Submission(std::move(buffer));
}

void Queue::wait() { state_->line->wait(); }

}  // namespace metalloid
