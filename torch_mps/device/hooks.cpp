// What torch asks about the device "mps".
#include "hooks.h"

#include <ATen/mps/MPSAllocatorInterface.h>
#include <ATen/mps/MPSEvent.h>
#include <ATen/mps/MPSGeneratorImpl.h>
#include <ATen/mps/MPSStream.h>

#include <atomic>

#include "memory.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

std::atomic<unsigned> macos{(15u << 8) | 0};

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
  void emptyCache() const override { at::mps::getIMPSAllocator()->emptyCache(); }
  std::size_t getCurrentAllocatedMemory() const override { return memory_use().now; }
  std::size_t getDriverAllocatedMemory() const override {
    return at::mps::getIMPSAllocator()->getDriverAllocatedMemory();
  }
  std::size_t getRecommendedMaxMemory() const override {
    return at::mps::getIMPSAllocator()->getRecommendedMaxMemory();
  }
  std::size_t getMaxBufferLength() const override { return physical_memory() / 2; }
  void setMemoryFraction(double ratio) const override { at::mps::getIMPSAllocator()->setHighWatermarkRatio(ratio); }

  void deviceSynchronize() const override { synchronize(); }
  void commitStream() const override { at::mps::getCurrentMPSStream()->synchronize(at::mps::SyncType::COMMIT); }
  void* getCommandBuffer() const override { return at::mps::getCurrentMPSStream()->commandBuffer(); }
  void* getDispatchQueue() const override { return at::mps::getCurrentMPSStream()->queue(); }
  void profilerStartTrace(const std::string&, bool) const override {}
  void profilerStopTrace() const override {}

  std::uint32_t acquireEvent(bool enable_timing) const override { return pool().acquireEvent(enable_timing); }
  void releaseEvent(std::uint32_t id) const override { pool().releaseEvent(id); }
  void recordEvent(std::uint32_t id) const override { pool().recordEvent(id, true); }
  void waitForEvent(std::uint32_t id) const override { pool().waitForEvent(id, true); }
  void synchronizeEvent(std::uint32_t id) const override { pool().synchronizeEvent(id); }
  bool queryEvent(std::uint32_t id) const override { return pool().queryEvent(id); }
  double elapsedTimeOfEvents(std::uint32_t from, std::uint32_t to) const override {
    return pool().elapsedTime(from, to);
  }

 private:
  static at::mps::MPSEventPool& pool() { return *at::mps::getMPSEventPool(); }
};

}  // namespace

const at::MPSHooksInterface& hooks() {
  static auto& hooks = *new Hooks;
  return hooks;
}

void set_macos_version(unsigned major, unsigned minor) { macos = (major << 8) | minor; }

}  // namespace metalloid::torch_device
