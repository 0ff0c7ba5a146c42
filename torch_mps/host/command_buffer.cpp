// Command buffers of queues, and the one before PyTorch's current stream.
#include <chrono>
#include <utility>

#include "../device/errors.h"
#include "../device/streams.h"
#include "metal_objects.h"

namespace metalloid::torch_host {
namespace {

using torch_device::raising;

double seconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

CommandBuffer QueueObject::command_buffer() {
  const std::lock_guard lock(mutex_);
  if (!queue_) queue_.emplace(default_device()->device);
  return queue_->command_buffer();
}

CommandBufferObject::CommandBufferObject(const Object& head, QueueObject* queue) : queue_(retain(queue)) {
  kind = head.kind;
  if (!queue) return;
  list_ = queue->command_buffer();
  freed_memory_ = torch_device::hold_off();
}

CommandBufferObject::~CommandBufferObject() {
  list_.reset();
  release(queue_);
}

void CommandBufferObject::dispatch(const Kernel& kernel, Dispatch dispatch) {
  raising([&] { list_ ? list_->dispatch(kernel, std::move(dispatch)) : Stream::current().dispatch(kernel, dispatch); });
}

void CommandBufferObject::call(std::function<void()> work) {
  raising([&] { list_ ? list_->call(std::move(work)) : Stream::current().call(std::move(work)); });
}

void CommandBufferObject::on_scheduled(std::function<void()> work) {
  if (!list_) return call(std::move(work));
  raising([&] { list_->on_scheduled([work = std::move(work)](const CommandBuffer&) { work(); }); });
}

void CommandBufferObject::on_completed(std::function<void()> work) {
  if (!list_) return call(std::move(work));
  raising([&] { list_->on_completed([work = std::move(work)](const CommandBuffer&) { work(); }); });
}

void CommandBufferObject::enqueue() {
  if (list_) raising([&] { list_->enqueue(); });
}

// PyTorch's streams have been given all that was encoded.
void CommandBufferObject::commit() {
  if (!list_) return;
  raising([&] {
    // It lives until its handlers have been called, whoever lets go of it.
    retain(this);
    list_->on_completed([this](const CommandBuffer&) {
      freed_memory_ = nullptr;
      release(this);
    });
    list_->commit();
  });
}

void CommandBufferObject::wait_until_scheduled() {
  if (list_) raising([&] { list_->wait_until_scheduled(); });
}

void CommandBufferObject::wait_until_completed() {
  raising([&] { list_ ? list_->wait_until_completed() : Stream::current().synchronize(); });
}

CommandBuffer::Status CommandBufferObject::status() const {
  return list_ ? list_->status() : CommandBuffer::Status::not_enqueued;
}

std::exception_ptr CommandBufferObject::error() const { return list_ ? list_->error() : nullptr; }
double CommandBufferObject::begin() const { return list_ ? seconds(list_->times().begin) : 0; }
double CommandBufferObject::end() const { return list_ ? seconds(list_->times().end) : 0; }

}  // namespace metalloid::torch_host
