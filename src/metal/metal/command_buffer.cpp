// Command buffers of queues, and the one before the calling thread's stream.
#include <chrono>
#include <utility>

#include "metalloid/metal/host.h"
#include "metalloid/metal/objects.h"

namespace metalloid::metal {
namespace {

double seconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

CommandBuffer QueueObject::command_buffer() {
  const std::lock_guard lock(mutex_);
  if (!queue_) queue_.emplace(device->device);
  return queue_->command_buffer();
}

CommandBufferObject::CommandBufferObject(QueueObject* queue) : queue_(retain(queue)) {
  if (!queue) return;
  list_ = queue->command_buffer();
  if (host().hold_memory) freed_memory_ = host().hold_memory();
}

CommandBufferObject::~CommandBufferObject() {
  list_.reset();
  release(queue_);
}

void CommandBufferObject::dispatch(const Kernel& kernel, Dispatch dispatch) {
  if (!list_) return raising([&] { Stream::current().dispatch(kernel, dispatch); });
  try {
    list_->dispatch(kernel, std::move(dispatch));
  } catch (const Error& error) {
    if (host().raise_error) host().raise_error(error);
    // As on a Mac, where what is wrong with arguments is found when they are used.
    list_->call([error] { throw error; });
  }
}

void CommandBufferObject::copy(const Buffer& from, std::size_t from_offset, const Buffer& to, std::size_t to_offset,
                               std::size_t bytes) {
  raising([&] { list_->copy(from, from_offset, to, to_offset, bytes); });
}

void CommandBufferObject::fill(const Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) {
  raising([&] { list_->fill(buffer, offset, bytes, value); });
}

void CommandBufferObject::signal(const SharedEvent& event, std::uint64_t value) {
  raising([&] { list_ ? list_->signal(event, value) : Stream::current().signal(event, value); });
}

void CommandBufferObject::wait(const SharedEvent& event, std::uint64_t value) {
  raising([&] { list_ ? list_->wait(event, value) : Stream::current().wait(event, value); });
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

// Streams have been given all that was encoded.
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

}  // namespace metalloid::metal
