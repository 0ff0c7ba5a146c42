#include "runtime/dispatch/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "checker/host_checks.h"
#include "engines/host_memory.h"
#include "runtime/dispatch/host_arguments.h"
#include "runtime/states.h"

namespace metalloid::runtime {
namespace {

std::string text(const Size& size) { return fmt::format("({}, {}, {})", size.x, size.y, size.z); }

template <typename... Arguments>
[[noreturn]] void reject(ErrorCode code, const KernelInfo& kernel, fmt::format_string<Arguments...> format,
                         Arguments&&... arguments) {
  throw Error(code,
              fmt::format("kernel '{}': {}", kernel.name, fmt::format(format, std::forward<Arguments>(arguments)...)));
}

bool has_zero(const Size& size) { return size.x == 0 || size.y == 0 || size.z == 0; }

std::uint32_t multiply(const KernelInfo& kernel, std::uint32_t groups, std::uint32_t threads) {
  std::uint64_t product = std::uint64_t{groups} * threads;
  if (product > UINT32_MAX) {
    reject(ErrorCode::limit_exceeded, kernel,
           "a grid of {} threadgroups of {} threads has more than 2^32 - 1 threads "
           "in one dimension",
           groups, threads);
  }
  return static_cast<std::uint32_t>(product);
}

void plan_grid(const KernelInfo& kernel, const Limits& limits, std::uint32_t max_threads, const Dispatch& dispatch,
               engines::DispatchPlan& plan) {
  if (!dispatch.has_grid()) {
    reject(ErrorCode::invalid_argument, kernel, "the dispatch has no grid; call threads() or threadgroups()");
  }
  const Size grid = dispatch.grid(), group = dispatch.group();
  if (has_zero(group)) {
    reject(ErrorCode::invalid_argument, kernel, "threads per threadgroup {}: every dimension must be at least 1",
           text(group));
  }
  if (has_zero(grid)) {
    reject(ErrorCode::invalid_argument, kernel, "{} per grid {}: every dimension must be at least 1",
           dispatch.grid_counts_threads() ? "threads" : "threadgroups", text(grid));
  }
  // The product of three 32-bit numbers may exceed 64 bits; one factor is bounded first.
  const std::uint32_t most_threads = limits.threads_per_threadgroup;
  const bool huge = group.x > most_threads || group.y > most_threads || group.z > most_threads;
  if (huge || group.volume() > most_threads) {
    reject(ErrorCode::limit_exceeded, kernel, "threads per threadgroup {} make more than the limit of {} threads",
           text(group), most_threads);
  }
  if (group.volume() > max_threads) {
    reject(ErrorCode::limit_exceeded, kernel,
           "threads per threadgroup {} make {} threads; the kernel's max_total_threads_per_threadgroup is {}",
           text(group), group.volume(), max_threads);
  }
  const auto& required = kernel.required_threads_per_threadgroup;
  if (required[0] != 0 && (group.x != required[0] || group.y != required[1] || group.z != required[2])) {
    reject(ErrorCode::invalid_argument, kernel,
           "threads per threadgroup {} differ from its required_threads_per_threadgroup ({}, {}, {})", text(group),
           required[0], required[1], required[2]);
  }
  plan.threads_per_threadgroup = group;
  if (dispatch.grid_counts_threads()) {
    plan.threads_per_grid = grid;
    auto groups = [](std::uint32_t threads, std::uint32_t size) { return threads / size + (threads % size != 0); };
    plan.threadgroups_per_grid = {groups(grid.x, group.x), groups(grid.y, group.y), groups(grid.z, group.z)};
  } else {
    plan.threadgroups_per_grid = grid;
    plan.threads_per_grid = {multiply(kernel, grid.x, group.x), multiply(kernel, grid.y, group.y),
                             multiply(kernel, grid.z, group.z)};
  }
  const Size& groups = plan.threadgroups_per_grid;
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (groups.volume() / groups.z / groups.y != groups.x || groups.volume() > most) {
    reject(ErrorCode::limit_exceeded, kernel, "a grid of {} threadgroups is too large", text(groups));
  }
}

void check_width(const KernelInfo& kernel, const ArgumentInfo& argument, const Dispatch::Binding& binding) {
  const checker::HostArgument bound = host_argument_of(argument, binding);
  if (!checker::is_refused(argument, bound)) return;
  const auto problem = checker::width_problem(argument, bound);
  reject(ErrorCode::invalid_argument, kernel, "{}; {}", problem->message, problem->fix);
}

// With all of the buffer named.
engines::BoundMemory range_of(const Buffer& buffer, std::size_t offset, Access access) {
  return {.base = reinterpret_cast<std::byte*>(buffer.gpu_address()),
          .size = buffer.size(),
          .offset = offset,
          .access = access,
          .owner = engines::BoundMemory::Owner::buffer,
          .memory = &buffer.memory(),
          .named_begin = 0,
          .named_end = buffer.size()};
}

void name_only(engines::BoundMemory& memory, std::size_t bytes) {
  memory.named_begin = memory.offset;
  memory.named_end = memory.offset + bytes;
}

engines::BoundMemory resolve_buffer(const KernelInfo& kernel, const ArgumentInfo& argument, const Dispatch& dispatch) {
  auto found = dispatch.bindings().find(argument.index);
  if (found == dispatch.bindings().end()) {
    reject(ErrorCode::invalid_argument, kernel, "missing buffer binding at index {} for argument '{}'", argument.index,
           argument.name);
  }
  if (const auto* bytes = std::get_if<Dispatch::Bytes>(&found->second)) {
    const std::size_t size = bytes->value().size();
    if (size > max_inline_bytes) {
      reject(ErrorCode::limit_exceeded, kernel,
             "{} inline bytes for argument '{}' at index {} exceed the limit of {}; use a buffer", size, argument.name,
             argument.index, max_inline_bytes);
    }
    check_width(kernel, argument, found->second);
    // References are to the value alone.
    const std::span<const std::byte> memory = argument.is_reference ? bytes->value() : *bytes;
    const std::size_t margin = argument.is_reference ? 0 : bytes->margin;
    return {.base = const_cast<std::byte*>(memory.data()),
            .size = memory.size(),
            .offset = margin,
            .access = Access::read,
            .owner = engines::BoundMemory::Owner::dispatch,
            .memory = &engines::host_memory(),
            .named_begin = margin,
            .named_end = margin + size};
  }
  if (std::holds_alternative<Dispatch::TensorBinding>(found->second)) {
    reject(ErrorCode::invalid_argument, kernel, "argument '{}' at index {} is a pointer; a tensor is bound there",
           argument.name, argument.index);
  }
  const auto& [buffer, offset] = std::get<Dispatch::BufferBinding>(found->second);
  if (offset > buffer.size()) {
    reject(ErrorCode::invalid_argument, kernel,
           "offset {} of argument '{}' at index {} lies behind its buffer's {} bytes", offset, argument.name,
           argument.index, buffer.size());
  }
  const std::size_t needed = checker::bytes_needed(argument.type);
  if (buffer.size() - offset < needed) {
    reject(ErrorCode::invalid_argument, kernel,
           "argument '{}' at index {} needs {} bytes for its type {}; its buffer has {} after offset {}", argument.name,
           argument.index, needed, argument.type.name, buffer.size() - offset, offset);
  }
  check_width(kernel, argument, found->second);
  engines::BoundMemory memory = range_of(buffer, offset, argument.access);
  // Room behind a vector of three is read, too, where there is some.
  if (argument.is_reference) name_only(memory, std::min<std::size_t>(argument.type.size, buffer.size() - offset));
  return memory;
}

bool is_undefined(const Dispatch::Binding& binding) {
  const auto* bound = std::get_if<Dispatch::BufferBinding>(&binding);
  return bound != nullptr && bound->buffer.is_undefined();
}

// From the tensor's first element to behind its last one, if that lies in the buffer.
std::optional<std::uint64_t> bytes_in_buffer(const Dispatch::TensorBinding& tensor, std::uint64_t element_bytes) {
  if (tensor.offset > tensor.buffer.size()) return std::nullopt;
  for (const std::int64_t extent : tensor.extents) {
    if (extent == 0) return 0;
  }
  element_bytes = std::max<std::uint64_t>(element_bytes, 1);
  const std::uint64_t elements = (tensor.buffer.size() - tensor.offset) / element_bytes;
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < tensor.extents.size(); ++d) {
    std::uint64_t step = 0;
    const auto steps = static_cast<std::uint64_t>(tensor.extents[d] - 1);
    if (__builtin_mul_overflow(steps, static_cast<std::uint64_t>(tensor.strides[d]), &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return std::nullopt;
    }
  }
  if (last >= elements) return std::nullopt;
  return (last + 1) * element_bytes;
}

engines::BoundArgument resolve_tensor(const KernelInfo& kernel, const ArgumentInfo& argument,
                                      const Dispatch& dispatch) {
  auto found = dispatch.bindings().find(argument.index);
  const auto* tensor =
      found == dispatch.bindings().end() ? nullptr : std::get_if<Dispatch::TensorBinding>(&found->second);
  const std::size_t rank = argument.extents.size();
  if (!tensor) {
    reject(ErrorCode::invalid_argument, kernel,
           "argument '{}' at index {} is a tensor of rank {} and no tensor is bound", argument.name, argument.index,
           rank);
  }
  if (tensor->extents.size() != rank) {
    reject(ErrorCode::invalid_argument, kernel, "argument '{}' at index {} is a tensor of rank {}; rank {} given",
           argument.name, argument.index, rank, tensor->extents.size());
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (tensor->extents[d] < 0 || tensor->strides[d] < 0) {
      reject(ErrorCode::invalid_argument, kernel, "tensor '{}' at index {} has extent {} and stride {} in dimension {}",
             argument.name, argument.index, tensor->extents[d], tensor->strides[d], d);
    }
    if (argument.extents[d] >= 0 && argument.extents[d] != tensor->extents[d]) {
      reject(ErrorCode::invalid_argument, kernel, "tensor '{}' at index {} has extent {} in dimension {}; {} given",
             argument.name, argument.index, argument.extents[d], d, tensor->extents[d]);
    }
  }
  if (rank > 0 && tensor->strides[0] != 1) {
    reject(ErrorCode::invalid_argument, kernel, "tensor '{}' at index {}: the stride of dimension 0 must be 1, not {}",
           argument.name, argument.index, tensor->strides[0]);
  }
  const auto bytes = bytes_in_buffer(*tensor, argument.type.size);
  if (!bytes) {
    reject(ErrorCode::invalid_argument, kernel,
           "tensor '{}' at index {} with extents ({}) of {} does not fit into its buffer's {} bytes", argument.name,
           argument.index, fmt::join(tensor->extents, ", "), argument.type.name, tensor->buffer.size());
  }
  engines::BoundArgument bound;
  bound.memory = range_of(tensor->buffer, tensor->offset, argument.access);
  name_only(bound.memory, *bytes);
  bound.is_undefined = tensor->buffer.is_undefined();
  const std::size_t slots = std::max<std::size_t>(rank, 1);  // at least one of each
  bound.descriptor.resize(1 + 2 * slots);
  bound.descriptor[0] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(bound.memory.address()));
  std::ranges::copy(tensor->extents, bound.descriptor.begin() + 1);
  std::ranges::copy(tensor->strides, bound.descriptor.begin() + 1 + static_cast<std::ptrdiff_t>(slots));
  return bound;
}

std::size_t resolve_threadgroup_memory(const KernelInfo& kernel, const ArgumentInfo& argument,
                                       const Dispatch& dispatch) {
  auto found = dispatch.threadgroup_memory_lengths().find(argument.index);
  if (found == dispatch.threadgroup_memory_lengths().end() || found->second == 0) {
    reject(ErrorCode::invalid_argument, kernel, "missing threadgroup memory length at index {} for argument '{}'",
           argument.index, argument.name);
  }
  std::size_t needed = argument.is_reference ? argument.type.size : 0;
  if (found->second < needed) {
    reject(ErrorCode::invalid_argument, kernel,
           "threadgroup memory '{}' at index {} needs {} bytes for its type {}; {} given", argument.name,
           argument.index, needed, argument.type.name, found->second);
  }
  return (found->second + 15) / 16 * 16;
}

// Tensors share the buffers' indices.
bool binds_as(const ArgumentInfo& argument, ArgumentKind kind) {
  return argument.kind == kind || (argument.kind == ArgumentKind::tensor && kind == ArgumentKind::buffer);
}

// "it takes 0 ('x'), 1 ('y')"
std::string list_arguments(const KernelInfo& kernel, ArgumentKind kind) {
  std::string list;
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (!binds_as(argument, kind)) continue;
    list += fmt::format("{}{} ('{}')", list.empty() ? "" : ", ", argument.index, argument.name);
  }
  return list.empty() ? "it takes none" : "it takes " + list;
}

bool takes(const KernelInfo& kernel, ArgumentKind kind, std::uint32_t index) {
  for (const ArgumentInfo& argument : kernel.arguments) {
    if (binds_as(argument, kind) && argument.index == index) return true;
  }
  return false;
}

void reject_surplus(const KernelInfo& kernel, const Limits& limits, const Dispatch& dispatch) {
  for (const auto& [index, binding] : dispatch.bindings()) {
    if (index >= max_buffer_arguments) {
      reject(ErrorCode::limit_exceeded, kernel, "buffer index {} is beyond the last one, {}", index,
             max_buffer_arguments - 1);
    }
    if (!takes(kernel, ArgumentKind::buffer, index)) {
      reject(ErrorCode::invalid_argument, kernel, "no argument has buffer index {}; {}", index,
             list_arguments(kernel, ArgumentKind::buffer));
    }
  }
  for (const auto& [index, length] : dispatch.threadgroup_memory_lengths()) {
    if (!takes(kernel, ArgumentKind::threadgroup_memory, index)) {
      reject(ErrorCode::invalid_argument, kernel, "no argument has threadgroup memory index {}; {}", index,
             list_arguments(kernel, ArgumentKind::threadgroup_memory));
    }
    // Whether the kernel uses it or not.
    if (length > limits.threadgroup_memory_bytes) {
      reject(ErrorCode::limit_exceeded, kernel, "{} bytes of threadgroup memory at index {} exceed the limit of {}",
             length, index, limits.threadgroup_memory_bytes);
    }
  }
}

}  // namespace

engines::DispatchPlan plan_dispatch(const Kernel& pipeline, const Dispatch& dispatch) {
  check_host_arguments(pipeline, dispatch);
  const KernelInfo& kernel = pipeline.info();
  const Limits limits = pipeline.state().compiled->runner.hardware->limits();
  engines::DispatchPlan plan;
  plan_grid(kernel, limits, pipeline.max_total_threads_per_threadgroup(), dispatch, plan);
  plan.timeout = dispatch.timeout();
  plan.label = dispatch.label();
  plan.arguments.resize(kernel.arguments.size());
  reject_surplus(kernel, limits, dispatch);
  for (const Dispatch::Use& use : dispatch.uses()) plan.used.push_back(range_of(use.buffer, 0, use.access));
  std::uint64_t threadgroup_bytes = (kernel.static_threadgroup_memory + 15) / 16 * 16;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentInfo& argument = kernel.arguments[i];
    if (!argument.is_active) continue;
    const bool is_bound = dispatch.bindings().contains(argument.index);
    if (argument.kind == ArgumentKind::buffer && !argument.is_used && !is_bound) continue;
    if (argument.kind == ArgumentKind::buffer) {
      plan.arguments[i].memory = resolve_buffer(kernel, argument, dispatch);
      plan.arguments[i].is_undefined = is_undefined(dispatch.bindings().at(argument.index));
    } else if (argument.kind == ArgumentKind::tensor) {
      plan.arguments[i] = resolve_tensor(kernel, argument, dispatch);
    } else if (argument.kind == ArgumentKind::threadgroup_memory) {
      plan.arguments[i].threadgroup_bytes = resolve_threadgroup_memory(kernel, argument, dispatch);
      threadgroup_bytes += plan.arguments[i].threadgroup_bytes;
    }
  }
  if (threadgroup_bytes > limits.threadgroup_memory_bytes) {
    reject(ErrorCode::limit_exceeded, kernel,
           "{} bytes of threadgroup memory, {} of them declared in the kernel, exceed the limit of {}",
           threadgroup_bytes, kernel.static_threadgroup_memory, limits.threadgroup_memory_bytes);
  }
  return plan;
}

}  // namespace metalloid::runtime
