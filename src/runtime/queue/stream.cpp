// Streams: a line that is used only by what cannot be done at once, or a stream that others use too.
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "metalloid/check.h"
#include "metalloid/error.h"
#include "metalloid/queue.h"
#include "runtime/queue/command_buffer.h"
#include "runtime/queue/line.h"
#include "runtime/queue/shared_stream.h"
#include "runtime/states.h"
#include "support/made_once.h"

namespace metalloid {

namespace {

thread_local Stream* current_stream = nullptr;

}  // namespace

struct Stream::State {
  using Owner = std::shared_ptr<runtime::Line>;

  const Device device;
  std::atomic<runtime::Line*> line = nullptr;  // once something had to wait
  std::mutex mutex;                            // of what follows
  std::unique_ptr<Owner> owner;

  const std::unique_ptr<runtime::SharedStream> shared;  // instead of a line

  explicit State(Device of) : device(of) {}
  State(Device of, std::uintptr_t native) : device(of), shared(std::make_unique<runtime::SharedStream>(of, native)) {}

  ~State() {
    if (runtime::Line* const used = used_line()) {
      used->end();
    } else {
      static_cast<void>(owner.release());  // a line of the parent process, without its thread, cannot end
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  runtime::Line* used_line() const {
    runtime::Line* const found = line.load(std::memory_order_acquire);
    return found && found->process.is_this() ? found : nullptr;
  }

  Owner line_to_use() {
    const std::lock_guard lock(mutex);
    if (!used_line()) {
      static_cast<void>(owner.release());
      owner = std::make_unique<Owner>(runtime::Line::begin());
      line = owner->get();
    }
    return *owner;
  }

  bool is_idle() const {
    if (shared) return shared->is_idle();
    runtime::Line* const found = used_line();
    return !found || found->is_idle();
  }

  // All that was given is done.
  void require_idle() {
    if (shared) shared->synchronize();
  }

  template <typename Record>
  void commit(Record record) {
    CommandBuffer buffer(std::make_shared<CommandBuffer::State>(device, line_to_use()));
    record(buffer);
    buffer.commit();
  }
};

Stream::Stream(Device device) : state_(std::make_unique<State>(device)) {}

Stream::Stream(Device device, std::uintptr_t native) : state_(std::make_unique<State>(device, native)) {}

Stream::~Stream() = default;

const Device& Stream::device() const { return state_->device; }

void Stream::dispatch(const Kernel& kernel, const Dispatch& dispatch) {
  if (state_->shared) return state_->shared->dispatch(kernel, dispatch);
  const bool must_finish = is_checking() || kernel.device() != state_->device;
  if (must_finish) {
    if (runtime::Line* const line = state_->used_line()) line->wait_until_idle();
  }
  const bool runs_at_call = kernel.state().compiled->runner.hardware->runs_at_call();
  if (must_finish || (runs_at_call && state_->is_idle())) return run(kernel, dispatch);
  auto work = std::make_shared<const runtime::PlannedDispatch>(kernel, dispatch);
  if (work->at_once) {
    runtime::Line* const used = state_->used_line();
    if ((used ? used : state_->line_to_use().get())->dispatch(work)) return;
  }
  state_->commit([&](CommandBuffer& buffer) { buffer.state().record(std::move(work)); });
}

void Stream::call(std::function<void()> work) {
  state_->require_idle();
  if (state_->is_idle()) return work();
  state_->commit([&](CommandBuffer& buffer) { buffer.call(std::move(work)); });
}

void Stream::signal(const SharedEvent& event, std::uint64_t value) {
  state_->require_idle();
  if (state_->is_idle()) return event.signal(value);
  state_->commit([&](CommandBuffer& buffer) { buffer.signal(event, value); });
}

void Stream::wait(const SharedEvent& event, std::uint64_t value) {
  if (state_->shared) return static_cast<void>(event.wait(value));
  if (state_->is_idle() && event.value() >= value) return;
  state_->commit([&](CommandBuffer& buffer) { buffer.wait(event, value); });
}

void Stream::wait_for_native(std::uintptr_t native) {
  if (state_->shared) return state_->shared->wait_for(native);
  throw Error(ErrorCode::unsupported, "only a stream over one of the device's own kind can wait for such a one");
}

Stream& Stream::of_process() {
  static constinit support::MadeOnce<Stream> made;  // threads may use it until the very end
  return made.get([] { return Stream(Device::configured()); });
}

Stream& Stream::current() { return current_stream ? *current_stream : of_process(); }
void Stream::make_current(Stream& stream) { current_stream = &stream; }

bool Stream::is_idle() const { return state_->is_idle(); }

void Stream::synchronize() {
  if (state_->shared) return state_->shared->synchronize();
  if (runtime::Line* const line = state_->used_line()) line->wait();
}

}  // namespace metalloid
