#include "streams.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <metalloid/reported_errors.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>

namespace metalloid::torch_device {

namespace {

thread_local std::int64_t current = 0;
std::atomic<std::int64_t> taken_from_pool{0};
std::atomic<bool> threads_have_begun{false};

const c10::Device only_device{c10::DeviceType::MPS, 0};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::MPS; }
  c10::Device exchangeDevice(c10::Device) const override { return only_device; }
  c10::Device getDevice() const override { return only_device; }
  // Autograd's threads do this when they begin.
  void setDevice(c10::Device) const override { threads_have_begun = threads_have_begun || getpid() != gettid(); }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const override { return stream_of(current); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream_of(next_stream_of_pool()); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream_of(next_stream_of_pool()); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_of(std::exchange(current, stream.id()));
  }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { synchronize(); }
  void synchronizeDevice(c10::DeviceIndex) const override { synchronize(); }

  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag flag) const override {
    if (*event == nullptr) *event = new Event;
    auto& recorded = *static_cast<Event*>(*event);
    recorded = {std::chrono::steady_clock::now(), true, flag == c10::EventFlag::BACKEND_DEFAULT};
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override { synchronize(); }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    TORCH_CHECK(from != nullptr && to != nullptr, "Both events must be recorded before calculating elapsed time.");
    return std::chrono::duration<double, std::milli>(static_cast<Event*>(to)->time - static_cast<Event*>(from)->time)
        .count();
  }

  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits =
        (1ULL << c10::kIndex_Byte) | (1ULL << c10::kIndex_Char) | (1ULL << c10::kIndex_Short) |
        (1ULL << c10::kIndex_Int) | (1ULL << c10::kIndex_Long) | (1ULL << c10::kIndex_Half) |
        (1ULL << c10::kIndex_Float) | (1ULL << c10::kIndex_ComplexHalf) | (1ULL << c10::kIndex_ComplexFloat) |
        (1ULL << c10::kIndex_Bool) | (1ULL << c10::kIndex_BFloat16) | (1ULL << c10::kIndex_UInt16) |
        (1ULL << c10::kIndex_UInt32) | (1ULL << c10::kIndex_UInt64);
    return capability;
  }
};

C10_REGISTER_GUARD_IMPL(MPS, Guard)

// Exceptions keep pointers to the names of their places.
const char* kept(const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

}  // namespace

bool autograd_has_threads() { return threads_have_begun; }

std::int64_t current_stream() { return current; }
void set_current_stream(std::int64_t id) { current = id; }
std::int64_t next_stream_of_pool() { return taken_from_pool++ % pool_size + 1; }

void synchronize() {
  auto reported = take_reported_error();
  if (!reported) return;
  throw c10::AcceleratorError({kept(reported->function), kept(reported->file), reported->line}, 1, reported->message);
}

}  // namespace metalloid::torch_device
