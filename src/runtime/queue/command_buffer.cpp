#include "runtime/queue/command_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "metalloid/error.h"
#include "runtime/states.h"

namespace metalloid {

using Status = CommandBuffer::Status;

CommandBuffer::State::~State() {
  if (status == Status::enqueued) line->drop(*this);
}

void CommandBuffer::State::record(Command command) {
  const std::lock_guard lock(mutex);
  if (status >= Status::committed) {
    throw Error(ErrorCode::invalid_argument, "a command buffer was committed: it takes no more work");
  }
  commands.push_back(std::move(command));
}

void CommandBuffer::State::record(std::shared_ptr<const runtime::PlannedDispatch> work) {
  const engines::Hardware* const at_once = work->at_once;
  record({.carry_out = [work = std::move(work)](runtime::Issue& issue) { issue.dispatch(work); }, .at_once = at_once});
}

void CommandBuffer::State::add_handler(std::vector<Handler>& handlers, Handler handler) {
  const std::lock_guard lock(mutex);
  if (status >= Status::committed) {
    throw Error(ErrorCode::invalid_argument, "a command buffer was committed: it takes no more handlers");
  }
  handlers.push_back(std::move(handler));
}

void CommandBuffer::State::enqueue() {
  {
    const std::lock_guard lock(mutex);
    if (status != Status::not_enqueued) return;
    status = Status::enqueued;
  }
  line->reserve(*this);
}

void CommandBuffer::State::commit() {
  line->process.require("work");
  {
    const std::lock_guard lock(mutex);
    if (status >= Status::committed) {
      throw Error(ErrorCode::invalid_argument, "a command buffer is committed twice");
    }
    status = Status::committed;
  }
  line->commit(shared_from_this());
}

void CommandBuffer::State::advance(Status next) {
  {
    const std::lock_guard lock(mutex);
    status = next;
  }
  changed.notify_all();
}

void CommandBuffer::State::tell(const std::vector<Handler>& handlers) {
  const CommandBuffer buffer(shared_from_this());
  for (const Handler& handler : handlers) {
    try {
      handler(buffer);
    } catch (...) {  // nobody is there to take it
    }
  }
}

bool CommandBuffer::State::begins_at_once(const runtime::Issue& issue) const {
  constexpr std::size_t few = 32;  // whoever commits more goes on meanwhile
  if (commands.empty() || commands.size() > few) return false;
  const engines::Hardware* const hardware = commands.front().at_once;
  return hardware && issue.takes_at_once(*hardware) &&
         std::ranges::all_of(commands, [&](const Command& each) { return each.at_once == hardware; });
}

void CommandBuffer::State::run(runtime::Issue& issue) {
  times.scheduled = Times::Clock::now();
  advance(Status::scheduled);
  if (!scheduled_handlers.empty()) {
    line->handlers().post(
        [self = shared_from_this(), handlers = std::move(scheduled_handlers)] { self->tell(handlers); });
  }
  std::exception_ptr first;
  for (Command& command : commands) {
    if (!first) {
      try {
        command.carry_out(issue);
        continue;
      } catch (...) {
        first = std::current_exception();
      }
    }
    if (command.after_failure) after_failure.push_back(std::move(command.after_failure));
  }
  line->finish_in_order(issue.take(), [self = shared_from_this(), first](runtime::UnderWay& work) {
    const auto later = work.wait();
    self->complete(first ? first : later, work.times());
  });
}

void CommandBuffer::State::complete(std::exception_ptr first, runtime::UnderWay::Times when) {
  // Buffers are let go before anybody learns that the work is done.
  commands.clear();
  {
    const std::lock_guard lock(mutex);
    times.begin = when.begin;
    times.end = when.end;
    error = std::move(first);
    status = error ? Status::failed : Status::completed;
  }
  if (completed_handlers.empty()) return finish();
  changed.notify_all();
  line->handlers().post([this, self = shared_from_this(), handlers = std::move(completed_handlers)]() mutable {
    tell(handlers);
    handlers.clear();
    finish();
  });
}

void CommandBuffer::State::finish() {
  for (const auto& work : std::exchange(after_failure, {})) work();
  {
    const std::lock_guard lock(mutex);
    handlers_are_done = true;
  }
  changed.notify_all();
  line->finished(error);
}

bool CommandBuffer::State::is_done() const {
  const std::lock_guard lock(mutex);
  return handlers_are_done;
}

void CommandBuffer::State::wait_until(Status least, std::string_view what) {
  const bool for_handlers = least >= Status::completed && !line->handlers().is_this();
  const auto is_reached = [&] { return for_handlers ? handlers_are_done : status >= least; };
  std::unique_lock lock(mutex);
  if (is_reached()) return;
  line->process.require(what);
  if (line->is_this_thread()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a queue's work waits for {} to the same queue, which comes after it or is itself", what));
  }
  changed.wait(lock, is_reached);
}

void CommandBuffer::dispatch(Kernel kernel, Dispatch dispatch) {
  if (kernel.device() != state_->device) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel '{}' was made for device '{}'; the queue is of device '{}'", kernel.name(),
                            kernel.device().name(), state_->device.name()));
  }
  state_->record(std::make_shared<const runtime::PlannedDispatch>(std::move(kernel), std::move(dispatch)));
}

namespace {

void require_inside(const Buffer& buffer, std::size_t offset, std::size_t bytes, std::string_view what) {
  if (offset <= buffer.size() && bytes <= buffer.size() - offset) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("{} of {} bytes from byte {} on, in a buffer of {} bytes", what,
                                                       bytes, offset, buffer.size()));
}

}  // namespace

void CommandBuffer::copy(const Buffer& from, std::size_t from_offset, const Buffer& to, std::size_t to_offset,
                         std::size_t bytes) {
  require_inside(from, from_offset, bytes, "a copy");
  require_inside(to, to_offset, bytes, "a copy");
  call([=] {
    if (from.contents() && to.contents()) {
      std::memmove(static_cast<std::byte*>(to.contents()) + to_offset,
                   static_cast<const std::byte*>(from.contents()) + from_offset, bytes);
      return;
    }
    std::vector<std::byte> between(bytes);
    from.read(from_offset, between);
    to.write(to_offset, between);
  });
}

void CommandBuffer::fill(const Buffer& buffer, std::size_t offset, std::size_t bytes, std::byte value) {
  require_inside(buffer, offset, bytes, "a fill");
  call([=] {
    if (buffer.contents()) {
      std::memset(static_cast<std::byte*>(buffer.contents()) + offset, std::to_integer<int>(value), bytes);
    } else {
      buffer.write(offset, std::vector<std::byte>(bytes, value));
    }
  });
}

void CommandBuffer::signal(const SharedEvent& event, std::uint64_t value) {
  // After a failure a Mac's events stay as they are, and MLX signals them in a handler, once it has noted the error.
  // Here handlers come first, too, and then the signal, so that nobody waits for ever.
  state_->record({.carry_out =
                      [event, value](runtime::Issue& issue) {
                        issue.drain();
                        event.signal(value);
                      },
                  .after_failure = [event, value] { event.signal(value); }});
}

void CommandBuffer::wait(const SharedEvent& event, std::uint64_t value) {
  call([event, value] { event.wait(value); });
}

void CommandBuffer::call(std::function<void()> work) {
  state_->record({[work = std::move(work)](runtime::Issue& issue) { issue.call(work); }});
}

void CommandBuffer::on_scheduled(std::function<void(const CommandBuffer&)> handler) {
  state_->add_handler(state_->scheduled_handlers, std::move(handler));
}

void CommandBuffer::on_completed(std::function<void(const CommandBuffer&)> handler) {
  state_->add_handler(state_->completed_handlers, std::move(handler));
}

void CommandBuffer::enqueue() { state_->enqueue(); }
void CommandBuffer::commit() { state_->commit(); }
void CommandBuffer::wait_until_scheduled() const { state_->wait_until(Status::scheduled, "a command buffer"); }
void CommandBuffer::wait_until_completed() const { state_->wait_until(Status::completed, "a command buffer"); }

Status CommandBuffer::status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}

std::exception_ptr CommandBuffer::error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

CommandBuffer::Times CommandBuffer::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status >= Status::completed ? state_->times : Times{};
}

}  // namespace metalloid
