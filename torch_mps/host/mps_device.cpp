// MPSDevice and what PyTorch asks of the system.
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSDevice.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <metalloid/metal/objects.h>
#include "../device/hooks.h"

namespace at::mps {

MPSDevice* MPSDevice::_device = nullptr;

MPSDevice::MPSDevice() : _mtl_device(metalloid::metal::default_device()) {}
MPSDevice::~MPSDevice() = default;

MPSDevice* MPSDevice::getInstance() {
  static MPSDevice* const instance = _device = new MPSDevice;
  return instance;
}

bool MPSDevice::isMacOS13Plus(MacOSVersion version) const { return is_macos_at_least(version); }

std::string MPSDevice::getName() const { return metalloid::metal::default_device()->device.description(); }

unsigned MPSDevice::getCoreCount() const { return std::max(1u, std::thread::hardware_concurrency()); }

bool is_available() { return true; }

bool is_macos_at_least(MacOSVersion version) {
  static constexpr std::array<std::array<unsigned, 2>, 7> versions = {
      {{15, 0}, {15, 1}, {15, 2}, {26, 0}, {26, 2}, {26, 4}, {27, 0}}};
  const auto& [major, minor] = versions.at(static_cast<std::size_t>(version));
  return metalloid::torch_device::hooks().isOnMacOSorNewer(major, minor);
}

bool is_apple_family_or_newer(AppleGPUFamily family) { return family <= AppleGPUFamily::APPLE_9_PLUS; }

MetalLanguageVersion metal_language_version() {
  const char* wanted = std::getenv("PYTORCH_MPS_METAL_VERSION");
  if (!wanted || !*wanted) {
    return is_macos_at_least(MacOSVersion::MACOS_26_0)   ? MetalLanguageVersion::METAL_4_0
           : is_macos_at_least(MacOSVersion::MACOS_15_0) ? MetalLanguageVersion::METAL_3_2
                                                         : MetalLanguageVersion::METAL_3_1;
  }
  const std::string_view version = wanted;
  if (version == "3.1") return MetalLanguageVersion::METAL_3_1;
  if (version == "3.2") return MetalLanguageVersion::METAL_3_2;
  TORCH_CHECK(version == "4.0", "PYTORCH_MPS_METAL_VERSION must be 3.1, 3.2 or 4.0, not ", version);
  return MetalLanguageVersion::METAL_4_0;
}

bool has_mpp() { return metal_language_version() >= MetalLanguageVersion::METAL_4_0; }

}  // namespace at::mps
