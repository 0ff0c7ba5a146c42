// What torch asks about the device "mps".
#include "hooks.h"

#include <ATen/mps/MPSGeneratorImpl.h>
#include <ATen/mps/MPSStream.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "memory.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

std::atomic<unsigned> macos{(15u << 8) | 0};

struct TimedEvent {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
};
std::mutex& events_mutex = *new std::mutex;
auto& events = *new std::map<std::uint32_t, TimedEvent>;

TimedEvent event(std::uint32_t id) {
  std::lock_guard lock(events_mutex);
  auto found = events.find(id);
  TORCH_CHECK(found != events.end(), "there is no event ", id);
  return found->second;
}

struct Hooks final : at::MPSHooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasMPS() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isOnMacOSorNewer(unsigned major, unsigned minor) const override { return macos >= ((major << 8) | minor); }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::Device getDeviceFromPtr(void*) const override { return c10::Device(c10::DeviceType::MPS, 0); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::mps::detail::getDefaultMPSGenerator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::mps::detail::createMPSGenerator(); }

  c10::Allocator* getMPSDeviceAllocator() const override { return &allocator(); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  void emptyCache() const override {}
  std::size_t getCurrentAllocatedMemory() const override { return memory_use().now; }
  std::size_t getDriverAllocatedMemory() const override { return memory_use().now; }
  std::size_t getRecommendedMaxMemory() const override { return physical_memory() / 4 * 3; }
  std::size_t getMaxBufferLength() const override { return physical_memory() / 2; }
  void setMemoryFraction(double) const override {}

  void deviceSynchronize() const override { synchronize(); }
  void commitStream() const override { at::mps::getCurrentMPSStream()->synchronize(at::mps::SyncType::COMMIT); }
  void* getCommandBuffer() const override { return at::mps::getCurrentMPSStream()->commandBuffer(); }
  void* getDispatchQueue() const override { return at::mps::getCurrentMPSStream()->queue(); }
  void profilerStartTrace(const std::string&, bool) const override {}
  void profilerStopTrace() const override {}

  std::uint32_t acquireEvent(bool) const override {
    std::lock_guard lock(events_mutex);
    static std::uint32_t last = 0;
    events[++last] = {};
    return last;
  }
  void releaseEvent(std::uint32_t id) const override {
    std::lock_guard lock(events_mutex);
    events.erase(id);
  }
  void recordEvent(std::uint32_t id) const override {
    event(id);
    std::lock_guard lock(events_mutex);
    events[id] = {std::chrono::steady_clock::now(), true};
  }
  void waitForEvent(std::uint32_t) const override {}
  void synchronizeEvent(std::uint32_t) const override { synchronize(); }
  bool queryEvent(std::uint32_t) const override { return true; }
  double elapsedTimeOfEvents(std::uint32_t from, std::uint32_t to) const override {
    synchronize();
    const auto start = event(from), end = event(to);
    TORCH_CHECK(start.is_recorded && end.is_recorded, "Events must be recorded before calculating elapsed time.");
    return std::chrono::duration<double, std::milli>(end.time - start.time).count();
  }
};

}  // namespace

const at::MPSHooksInterface& hooks() {
  static auto& hooks = *new Hooks;
  return hooks;
}

void set_macos_version(unsigned major, unsigned minor) { macos = (major << 8) | minor; }

}  // namespace metalloid::torch_device
