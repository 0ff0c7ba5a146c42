// Libraries and kernels as the host sees them.
#include "metalloid/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "metalloid/device.h"
#include "metalloid/library_outline.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/compile/library_cache.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"
#include "support/nearest_names.h"

namespace metalloid {
namespace runtime {

const KernelInfo& find_kernel(const LibraryInfo& library, std::string_view name) {
  for (const KernelInfo& kernel : library.kernels) {
    if (kernel.name == name) return kernel;
  }
  for (const UnsupportedFunction& function : library.unsupported) {
    if (function.name == name) {
      throw Error(ErrorCode::unsupported, fmt::format("function '{}' is not supported: {}", name, function.reason));
    }
  }
  std::vector<std::string> names;
  for (const KernelInfo& kernel : library.kernels) names.push_back(kernel.name);
  if (names.empty()) {
    throw Error(ErrorCode::unknown_function,
                name.empty() ? std::string("the source has no kernels")
                             : fmt::format("no kernel is named '{}'; the source has no kernels", name));
  }
  const std::string hint = support::nearest_names(name, names);
  if (name.empty()) throw Error(ErrorCode::unknown_function, fmt::format("no kernel was named; {}", hint));
  throw Error(ErrorCode::unknown_function, fmt::format("no kernel is named '{}'; {}", name, hint));
}

void check_kernel(const KernelInfo& kernel, const Limits& limits) {
  const auto& required = kernel.required_threads_per_threadgroup;
  const std::uint64_t threads = std::max<std::uint64_t>(kernel.max_total_threads_per_threadgroup,
                                                        std::uint64_t{required[0]} * required[1] * required[2]);
  if (threads > limits.threads_per_threadgroup) {
    throw Error(ErrorCode::limit_exceeded,
                fmt::format("kernel '{}' is declared for {} threads per threadgroup; the limit is {}", kernel.name,
                            threads, limits.threads_per_threadgroup));
  }
  if (kernel.static_threadgroup_memory > limits.threadgroup_memory_bytes) {
    throw Error(ErrorCode::limit_exceeded,
                fmt::format("kernel '{}' declares {} bytes of threadgroup memory; the limit is {}", kernel.name,
                            kernel.static_threadgroup_memory, limits.threadgroup_memory_bytes));
  }
}

}  // namespace runtime

const std::vector<FunctionConstantInfo>& function_constants_of(const Library& library) {
  return library.state().info.function_constants;
}
const std::vector<UnsupportedFunction>& unsupported_functions_of(const Library& library) {
  return library.state().info.unsupported;
}
const LibraryInfo& Library::info() const { return *runtime::whole_code(*state_).info; }
const std::string& Library::warnings() const { return state_->warnings; }
bool Library::came_from_cache() const { return state_->from_cache; }

std::vector<std::string> Library::kernel_names() const {
  std::vector<std::string> names;
  for (const KernelInfo& kernel : state_->info.kernels) names.push_back(kernel.name);
  return names;
}

Kernel Library::kernel(std::string_view name, const FunctionConstants& constants) const {
  std::shared_ptr<const Kernel::State> kernel;
  auto describe = [&] {
    return Event{.kind = Event::Kind::kernel,
                 .device = state_->device->name,
                 .kernel = std::string(name),
                 .source = state_->source,
                 .from_cache = kernel != nullptr && kernel->from_cache};
  };
  runtime::recorded(describe, [&] {
    kernel = runtime::find_or_compile_kernel(state_, runtime::find_kernel(state_->info, name), constants);
  });
  return Kernel(std::move(kernel));
}

const KernelInfo& Kernel::info() const { return state_->compiled->info; }
Device Kernel::device() const { return Device(state_->device); }
const std::string& Kernel::engine() const { return state_->compiled->engine_name; }
std::vector<Remark> Kernel::remarks() const {
  std::vector<Remark> all = state_->compiled->remarks;
  const std::size_t sizes = state_->sizes.load(std::memory_order_acquire);
  for (const runtime::SizedCode& sized : std::span(state_->sized).first(sizes)) {
    if (sized.remark) all.push_back(*sized.remark);
  }
  return all;
}
bool Kernel::came_from_cache() const { return state_->from_cache; }
std::uint64_t Kernel::static_threadgroup_memory_length() const { return info().static_threadgroup_memory; }

std::uint32_t Kernel::max_total_threads_per_threadgroup() const {
  std::uint32_t limit = info().max_total_threads_per_threadgroup;
  const auto& required = info().required_threads_per_threadgroup;
  if (limit == 0 && required[0] != 0) limit = required[0] * required[1] * required[2];
  const runtime::CompiledKernel& compiled = *state_->compiled;
  const std::uint32_t most = std::min(compiled.runner.hardware->limits().threads_per_threadgroup,
                                      compiled.executable->max_threads_per_threadgroup());
  return limit == 0 ? most : std::min(limit, most);
}

Size Kernel::default_threadgroup(Size grid, unsigned dimensions) const {
  const std::uint32_t limit = max_total_threads_per_threadgroup();
  return {dimensions > 1 ? limit : std::clamp(grid.x, 1U, limit)};
}

Size Kernel::filled_threadgroup(Size grid) const {
  const std::uint32_t limit = max_total_threads_per_threadgroup();
  Size group;
  group.x = std::clamp(grid.x, 1U, limit);
  group.y = std::clamp(grid.y, 1U, limit / group.x);
  group.z = std::clamp(grid.z, 1U, limit / (group.x * group.y));
  return group;
}

}  // namespace metalloid
