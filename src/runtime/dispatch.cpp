// Dispatches as the host fills them in.
#include "metalloid/dispatch.h"

#include <algorithm>
#include <cstdlib>

namespace metalloid {
namespace {

std::chrono::milliseconds default_timeout() {
  static const std::chrono::milliseconds timeout = [] {
    constexpr std::chrono::milliseconds standard = std::chrono::seconds(300);
    const char* variable = std::getenv("METALLOID_TIMEOUT");
    if (!variable) return standard;
    char* end = nullptr;
    double seconds = std::strtod(variable, &end);
    if (end == variable || !(seconds >= 0)) return standard;
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e9) * 1000));
  }();
  return timeout;
}

}  // namespace

Dispatch::Dispatch() : timeout_(default_timeout()) {}

Dispatch& Dispatch::buffer(std::uint32_t index, Buffer buffer, std::size_t offset) {
  bindings_.insert_or_assign(index, BufferBinding{std::move(buffer), offset});
  return *this;
}

Dispatch& Dispatch::bytes(std::uint32_t index, std::span<const std::byte> value) {
  bindings_.insert_or_assign(index, Bytes(value.begin(), value.end()));
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
