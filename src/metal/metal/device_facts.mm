#include "metal/metal/device_facts.h"

#import <Metal/Metal.h>
#include <sys/sysinfo.h>

#include <cstdlib>

namespace metalloid::metal {
namespace {

std::string configured(const char* variable, const char* usual) {
  const char* value = std::getenv(variable);
  return value && *value ? value : usual;
}

std::uint64_t memory() {
  struct sysinfo all = {};
  sysinfo(&all);
  return static_cast<std::uint64_t>(all.totalram) * all.mem_unit;
}

}  // namespace

const DeviceFacts& device_facts() {
  static const auto& facts = *new DeviceFacts{
      .name = configured("METALLOID_METAL_NAME", "Apple M3"),
      .architecture = configured("METALLOID_METAL_ARCHITECTURE", "applegpu_g15s"),
      .families = {MTLGPUFamilyApple1, MTLGPUFamilyApple2, MTLGPUFamilyApple3, MTLGPUFamilyApple4, MTLGPUFamilyApple5,
                   MTLGPUFamilyApple6, MTLGPUFamilyApple7, MTLGPUFamilyApple8, MTLGPUFamilyApple9, MTLGPUFamilyMac2,
                   MTLGPUFamilyCommon1, MTLGPUFamilyCommon2, MTLGPUFamilyCommon3, MTLGPUFamilyMetal3},
      .largest_buffer = memory() / 2,
      .working_set = memory() / 4 * 3,
  };
  return facts;
}

}  // namespace metalloid::metal
