#include "engines/cuda/run/gpu.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engines/cuda/code/target.h"
#include "engines/cuda/run/gpu_memory.h"
#include "engines/cuda/run/gpu_stream.h"
#include "support/made_once.h"
#include "support/watchdog.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned without_default_stream = 1, without_timing = 2, mapped_everywhere = 1 | 2;
constexpr int oldest_capability = 80;

int attribute(DeviceAttribute which, int device) {
  int value = 0;
  driver().check(driver().device_attribute(&value, static_cast<int>(which), device), "a question");
  return value;
}

int capability(int device) {
  return 10 * attribute(DeviceAttribute::compute_capability_major, device) +
         attribute(DeviceAttribute::compute_capability_minor, device);
}

}  // namespace

Queue::Queue(Gpu& gpu) : gpu_(gpu) {
  driver().check(driver().stream_create(&handle_, without_default_stream), "a stream");
}

ReportSlot Queue::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      ReportSlot slot = free_.back();
      free_.pop_back();
      return slot;
    }
  }
  // They stay as long as the process, and are few.
  gpu_.enter();
  ReportSlot slot;
  void* word = nullptr;
  driver().check(driver().allocate(&slot.report, sizeof(Report)), "an allocation");
  driver().check(driver().set_bytes(slot.report, 0, sizeof(Report)), "a fill");
  driver().check(driver().allocate_host(&word, sizeof(std::uint32_t), mapped_everywhere), "an allocation");
  driver().check(driver().event_create(&slot.event, without_timing), "an event");
  slot.is_reported = static_cast<std::uint32_t*>(word);
  *slot.is_reported = 0;
  return slot;
}

void Queue::give_back(ReportSlot slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
}

Gpu::Gpu(int ordinal) : memory_(std::make_unique<GpuMemory>(*this)), managed_(std::make_unique<ManagedMemory>(*this)) {
  std::array<char, 256> name{};
  driver().check(driver().device_get(&device_, ordinal), "a question");
  driver().check(driver().device_name(name.data(), static_cast<int>(name.size()), device_), "a question");
  name_ = name.data();
  processor_ = fmt::format("sm_{};ptx{}", capability(device_), ptx_version(driver().version));
}

void Gpu::enter() {
  {
    const std::lock_guard lock(mutex_);
    if (!context_) driver().check(driver().context_retain(&context_, device_), "a context");
  }
  driver().check(driver().context_set(context_), "a context");
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
  enter();
  return std::make_unique<Queue>(*this);
}

void Gpu::give_back(std::unique_ptr<Queue> queue) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(queue));
}

Handle Gpu::control_queue() {
  enter();
  const std::lock_guard lock(mutex_);
  if (!control_) driver().check(driver().stream_create(&control_, without_default_stream), "a stream");
  return control_;
}

std::unique_ptr<Stream> Gpu::make_stream() { return std::make_unique<GpuStream>(*this); }

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
