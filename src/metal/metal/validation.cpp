#include "metal/metal/validation.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "metalloid/metal/host.h"
#include "metalloid/reflection.h"

namespace metalloid::metal {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
}

bool only_tells() {
  const char* mode = std::getenv("MTL_DEBUG_LAYER_ERROR_MODE");
  return mode && std::string_view(mode) == "nslog";
}

std::string text_of(const Method& method, const std::string& reason) {
  return fmt::format("-[{} {}]: failed assertion `{}'", method.of, method.name, reason);
}

}  // namespace

bool is_validating() {
  static const bool is = is_set("MTL_DEBUG_LAYER") || is_set("METAL_DEVICE_WRAPPER_TYPE");
  return is;
}

void refuse(const Method& method, const std::string& reason) { fail(Fault::misuse, text_of(method, reason)); }

void expect(bool is_right, const Method& method, const std::string& otherwise) {
  if (is_right) return;
  static const bool tells = only_tells();
  if (!tells) refuse(method, otherwise);
  std::fprintf(stderr, "%s\n", text_of(method, otherwise).c_str());
}

void validate_dispatch(const EncoderObject& encoder, std::string_view name, std::array<std::uint64_t, 3> grid,
                       std::array<std::uint64_t, 3> group) {
  const Method method = {"MTLDebugComputeCommandEncoder", name};
  if (!encoder.pipeline) return;  // refused in any case
  const std::uint64_t threads = group[0] * group[1] * group[2];
  for (std::size_t i = 0; i < 3; ++i) {
    constexpr std::array dimensions = {"width", "height", "depth"};
    expect(group[i] != 0, method, fmt::format("threadsPerThreadgroup.{}(0) must be > 0", dimensions[i]));
  }
  const std::uint64_t most = encoder.pipeline->max_threads;
  expect(threads <= most, method,
         fmt::format("(threadsPerThreadgroup.width({}) * threadsPerThreadgroup.height({}) * "
                     "threadsPerThreadgroup.depth({}))({}) must be <= {}. (kernel threadgroup size limit)",
                     group[0], group[1], group[2], threads, most));
  if (grid[0] * grid[1] * grid[2] == 0) return;
  const KernelInfo& kernel = encoder.pipeline->kernel.info();
  std::uint64_t memory = encoder.pipeline->kernel.static_threadgroup_memory_length();
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (!argument.is_active || !argument.is_used || argument.index >= buffer_slots) continue;
    const auto place = fmt::format("Compute Function({}): missing {} binding at index {} for {}[0].", kernel.name,
                                   argument.kind == ArgumentKind::buffer ? "buffer" : "threadgroup memory",
                                   argument.index, argument.name);
    if (argument.kind == ArgumentKind::buffer) expect(encoder.has_argument(argument.index), method, place);
    if (argument.kind == ArgumentKind::threadgroup_memory) {
      expect(encoder.threadgroup_memory(argument.index) != 0, method, place);
      memory += encoder.threadgroup_memory(argument.index);
    }
  }
  const std::uint64_t limit = encoder.pipeline->device->device.limits().threadgroup_memory_bytes;
  expect(
      memory <= limit, method,
      fmt::format("Threadgroup memory size ({}) exceeds the maximum threadgroup memory allowed ({})", memory, limit));
}

}  // namespace metalloid::metal
