#include "engines/cuda/run/gpu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "engines/cuda/code/target.h"
#include "engines/cuda/run/assembled.h"
#include "engines/cuda/run/gpu_memory.h"
#include "engines/cuda/run/gpu_stream.h"
#include "engines/cuda/run/shared_stream.h"
#include "engines/cuda/run/waiting.h"
#include "metalloid/error.h"
#include "support/made_once.h"
#include "support/watchdog.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned without_default_stream = 1, without_timing = 2, mapped_everywhere = 1 | 2;
constexpr int oldest_capability = 80;
constexpr int relaxed_capture = 2;
constexpr std::size_t shared_slot_count = 1024;

int attribute(DeviceAttribute which, int device) {
  int value = 0;
  driver().check(driver().device_attribute(&value, static_cast<int>(which), device), "a question");
  return value;
}

int capability(int device) {
  return 10 * attribute(DeviceAttribute::compute_capability_major, device) +
         attribute(DeviceAttribute::compute_capability_minor, device);
}

// The process ends behind them. A forked child has none of them.
class ThreadsOfProcess {
 public:
  ThreadsOfProcess() = default;
  ~ThreadsOfProcess() {
    if (process_ != ::getpid()) {
      static_cast<void>(threads_.release());
      return;
    }
    for (std::thread& thread : *threads_) thread.join();
  }
  ThreadsOfProcess(const ThreadsOfProcess&) = delete;
  ThreadsOfProcess& operator=(const ThreadsOfProcess&) = delete;

  template <typename Work>
  void begin(Work work) {
    const std::lock_guard lock(mutex_);
    threads_->emplace_back(std::move(work));
  }

 private:
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::unique_ptr<std::vector<std::thread>> threads_ = std::make_unique<std::vector<std::thread>>();
};

}  // namespace

Entered::Entered(Handle context) {
  driver().check(driver().context_get(&before_), "a context");
  is_other_ = before_ != context;
  if (is_other_) driver().check(driver().context_set(context), "a context");
}

Entered::~Entered() {
  if (is_other_) driver().context_set(before_);
}

OutsideOfCapture::OutsideOfCapture() : mode_(relaxed_capture) { driver().capture_mode(&mode_); }
OutsideOfCapture::~OutsideOfCapture() { driver().capture_mode(&mode_); }

// Reports and words side by side.
struct Gpu::SharedSlots {
  Address reports = 0;
  HostWords* words = nullptr;
  std::size_t next = 0;
};

Queue::Queue(Gpu& gpu) : gpu_(gpu) {
  driver().check(driver().stream_create(&handle_, without_default_stream), "a stream");
  void* word = nullptr;
  driver().check(driver().allocate_host(&word, sizeof(*ended_), mapped_everywhere), "an allocation");
  ended_ = new (word) std::uint32_t(0);
  // Some systems have no such operation.
  if (write_number(0) != success) ended_ = nullptr;
}

int Queue::write_number(std::uint32_t number) const {
  return driver().stream_write(handle_, reinterpret_cast<Address>(ended_), number, 0);
}

void Queue::count(WaitedSlot& slot) {
  slot.number = ++launched_;
  constexpr std::uint32_t between_marks = 32;
  if (ended_ && slot.number % between_marks == 0) return mark_ends();
  if (ended_) return;
  if (!slot.event) driver().check(driver().event_create(&slot.event, without_timing), "an event");
  driver().check(driver().event_record(slot.event, handle_), "an event");
}

void Queue::mark_ends() {
  if (!ended_) return;
  // Numbers come in order.
  const std::lock_guard lock(marking_);
  const std::uint32_t last = launched_;
  if (last == marked_) return;
  driver().check(write_number(last), "an end");
  marked_ = last;
}

void Queue::mark_ends_between_launches(const WaitedSlot& slot) {
  constexpr auto quiet = std::chrono::microseconds(5);  // as long as a launch takes
  using Clock = std::chrono::steady_clock;
  while (!is_marked(slot)) {
    const std::uint32_t last = launched_;
    for (const auto end = Clock::now() + quiet; Clock::now() < end;) std::this_thread::yield();
    if (last == launched_) mark_ends();
  }
}

bool Queue::is_marked(const WaitedSlot& slot) const {
  return !ended_ || static_cast<std::int32_t>(marked_ - slot.number) >= 0;
}

bool Queue::is_ended(const WaitedSlot& slot) const {
  if (!ended_) {
    const auto entered = gpu_.enter();
    return is_success(driver().event_query(slot.event));
  }
  const std::uint32_t last = std::atomic_ref(*ended_).load(std::memory_order_acquire);
  return static_cast<std::int32_t>(last - slot.number) >= 0;
}

bool Queue::is_idle() const { return is_success(driver().stream_query(handle_)); }

WaitedSlot Queue::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      WaitedSlot slot = free_.back();
      free_.pop_back();
      return slot;
    }
  }
  // They stay as long as the process, and are few.
  const auto entered = gpu_.enter();
  WaitedSlot slot;
  void* words = nullptr;
  driver().check(driver().allocate(&slot.report, sizeof(Report)), "an allocation");
  driver().fill_with_zeros(slot.report, sizeof(Report));
  driver().check(driver().allocate_host(&words, sizeof(HostWords), mapped_everywhere), "an allocation");
  slot.host = new (words) HostWords;
  return slot;
}

void Queue::give_back(WaitedSlot slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
}

Gpu::Gpu(int ordinal)
    : ordinal_(ordinal), memory_(std::make_unique<GpuMemory>(*this)), managed_(std::make_unique<ManagedMemory>(*this)) {
  std::array<char, 256> name{};
  driver().check(driver().device_get(&device_, ordinal), "a question");
  driver().check(driver().device_name(name.data(), static_cast<int>(name.size()), device_), "a question");
  name_ = name.data();
  processor_ = fmt::format("sm_{};ptx{}", capability(device_), ptx_version(driver().version));
}

Gpu::~Gpu() = default;

void Gpu::lose(ErrorCode code, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (is_lost_) return;
  code_lost_ = code;
  why_lost_ = why;
  is_lost_.store(true, std::memory_order_release);
}

void Gpu::require() const {
  if (!is_lost_.load(std::memory_order_acquire)) return;
  throw Error(code_lost_, fmt::format("this process cannot use the GPU '{}' any more: {}", name_, why_lost_));
}

Entered Gpu::enter() {
  require();
  Handle context = context_.load(std::memory_order_acquire);
  if (!context) {
    const std::lock_guard lock(mutex_);
    context = context_;
    if (!context) {
      driver().check(driver().context_retain(&context, device_), "a context");
      context_ = context;
    }
  }
  return Entered(context);
}

// Both take longer than to compile a small kernel: to make a context, and to read the driver's assembler from disk.
void Gpu::get_ready() noexcept {
  try {
    const auto entered = enter();
    const OutsideOfCapture outside;
    warm_assembler();
  } catch (...) {  // who loads the code is told
  }
}

void Gpu::expect_code() {
  std::call_once(expects_code_, [this] {
    static ThreadsOfProcess threads;  // which is newer than what the driver has for the process's end
    threads.begin([this] { get_ready(); });
  });
}

std::unique_ptr<Queue> Gpu::take_queue() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto queue = std::move(idle_.back());
      idle_.pop_back();
      return queue;
    }
  }
  const auto entered = enter();
  return std::make_unique<Queue>(*this);
}

void Gpu::give_back(std::unique_ptr<Queue> queue) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(queue));
}

std::unique_ptr<Stream> Gpu::make_stream() { return std::make_unique<GpuStream>(*this); }

std::unique_ptr<SharedStream> Gpu::share_stream(std::uintptr_t native) {
  return std::make_unique<GpuSharedStream>(*this, reinterpret_cast<Handle>(native));
}

ReportSlot Gpu::shared_slot() {
  const auto entered = enter();
  const std::lock_guard lock(mutex_);
  if (!shared_slots_) {
    const OutsideOfCapture outside;
    auto slots = std::make_unique<SharedSlots>();
    void* words = nullptr;
    driver().check(driver().allocate(&slots->reports, shared_slot_count * sizeof(Report)), "an allocation");
    driver().fill_with_zeros(slots->reports, shared_slot_count * sizeof(Report));
    driver().check(driver().allocate_host(&words, shared_slot_count * sizeof(HostWords), mapped_everywhere),
                   "an allocation");
    slots->words = static_cast<HostWords*>(words);
    std::uninitialized_default_construct_n(slots->words, shared_slot_count);
    shared_slots_ = std::move(slots);
  }
  const std::size_t i = shared_slots_->next++ % shared_slot_count;
  return {.report = shared_slots_->reports + i * sizeof(Report), .host = shared_slots_->words + i};
}

std::optional<Peak> Gpu::peak() const {
  // Of single precision, in a multiprocessor (CUDA Programming Guide, arithmetic throughput).
  const int lanes = capability(device_) == 80 ? 64 : 128;
  const auto number = [&](DeviceAttribute which) { return static_cast<double>(attribute(which, device_)); };
  constexpr double kilo = 1e3, transfers_per_clock = 2, bits_per_byte = 8, flops_per_lane = 2;
  const double processors = number(DeviceAttribute::multiprocessors);
  return Peak{.flops = processors * lanes * flops_per_lane * kilo * number(DeviceAttribute::clock_rate),
              .bytes_per_second = transfers_per_clock * kilo * number(DeviceAttribute::memory_clock_rate) *
                                  number(DeviceAttribute::memory_bus_width) / bits_per_byte,
              .processors = static_cast<unsigned>(processors)};
}

int Gpu::threads_of_multiprocessor() const { return attribute(DeviceAttribute::threads_of_multiprocessor, device_); }

void Gpu::interrupt() noexcept { support::interrupt_watched(); }

std::vector<Gpu*> gpus() {
  static constinit support::MadeOnce<std::vector<std::unique_ptr<Gpu>>> made;
  const auto& all = made.get([] {
    std::vector<std::unique_ptr<Gpu>> list;
    if (!driver().is_there()) return list;
    for (int i = 0; i < driver().devices; ++i) {
      int device = 0;
      if (driver().device_get(&device, i) != success || capability(device) < oldest_capability) continue;
      list.push_back(std::make_unique<Gpu>(i));
    }
    return list;
  });
  std::vector<Gpu*> found;
  for (const auto& gpu : all) found.push_back(gpu.get());
  return found;
}

std::string reason_without_gpus() {
  if (!driver().problem.empty() || !driver().is_there()) return driver().problem;
  return fmt::format("no GPU here has compute capability {}.{} or more", oldest_capability / 10,
                     oldest_capability % 10);
}

}  // namespace metalloid::engines::cuda
