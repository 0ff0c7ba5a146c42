// Dispatches as the host fills them in.
#include "metalloid/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "metalloid/error.h"
#include "support/environment.h"
#include "support/made_once.h"

namespace metalloid {
namespace {

std::chrono::milliseconds default_timeout() {
  static constinit support::MadeOnce<std::chrono::milliseconds> timeout;
  return timeout.get([] {
    const double seconds = support::limit_from_environment("METALLOID_TIMEOUT", "seconds", 300);
    constexpr double longest = 1e9;  // what is more is no limit
    if (seconds > longest) return std::chrono::milliseconds(0);
    return std::chrono::milliseconds(std::max<std::int64_t>(static_cast<std::int64_t>(seconds * 1000), 1));
  });
}

}  // namespace

Dispatch::Dispatch() : timeout_(default_timeout()) {}

Dispatch& Dispatch::label(std::string text) {
  label_ = std::move(text);
  return *this;
}

Dispatch& Dispatch::buffer(std::uint32_t index, Buffer buffer, std::size_t offset) {
  bindings_.insert_or_assign(index, BufferBinding{std::move(buffer), offset});
  return *this;
}

Dispatch& Dispatch::bytes(std::uint32_t index, std::span<const std::byte> value, ElementType elements,
                          std::size_t margin) {
  Bytes bytes(value.begin(), value.end());
  bytes.elements = elements;
  bytes.margin = margin;
  bindings_.insert_or_assign(index, std::move(bytes));
  return *this;
}

Dispatch& Dispatch::tensor(std::uint32_t index, Buffer buffer, std::span<const std::int64_t> extents,
                           std::span<const std::int64_t> strides, std::size_t offset) {
  if (!strides.empty() && strides.size() != extents.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a tensor with {} extents and {} strides at index {}",
                                                         extents.size(), strides.size(), index));
  }
  TensorBinding binding{std::move(buffer), offset, {extents.begin(), extents.end()}, {strides.begin(), strides.end()}};
  for (std::int64_t stride = 1; binding.strides.size() < binding.extents.size();) {
    binding.strides.push_back(stride);
    // Too large products are found by the dispatch's checks, which see the extents.
    if (__builtin_mul_overflow(stride, binding.extents[binding.strides.size() - 1], &stride)) stride = INT64_MAX;
  }
  bindings_.insert_or_assign(index, std::move(binding));
  return *this;
}

Dispatch& Dispatch::use(Buffer buffer, Access access) {
  uses_.push_back({std::move(buffer), access});
  return *this;
}

Dispatch& Dispatch::threadgroup_memory(std::uint32_t index, std::size_t bytes) {
  threadgroup_memory_[index] = bytes;
  return *this;
}

Dispatch& Dispatch::threads(Size grid, Size threads_per_threadgroup) {
  grid_ = grid;
  group_ = threads_per_threadgroup;
  grid_counts_threads_ = true;
  has_grid_ = true;
  return *this;
}

Dispatch& Dispatch::threadgroups(Size groups, Size threads_per_threadgroup) {
  grid_ = groups;
  group_ = threads_per_threadgroup;
  grid_counts_threads_ = false;
  has_grid_ = true;
  return *this;
}

Dispatch& Dispatch::timeout(std::chrono::milliseconds limit) {
  timeout_ = limit;
  return *this;
}

}  // namespace metalloid
