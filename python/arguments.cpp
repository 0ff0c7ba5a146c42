#include "arguments.h"

#include <chrono>
#include <cmath>

namespace metalloid {

Dispatch make_dispatch(const Bindings& bindings, const std::map<std::uint32_t, std::size_t>& threadgroup_memory,
                       std::optional<double> timeout) {
  Dispatch dispatch;
  for (const auto& [index, binding] : bindings) {
    if (const nb::bytes* bytes = std::get_if<nb::bytes>(&binding)) {
      dispatch.bytes(index, {static_cast<const std::byte*>(bytes->data()), bytes->size()});
    } else if (const auto* memory = std::get_if<std::pair<std::uintptr_t, std::size_t>>(&binding)) {
      dispatch.buffer(index, Buffer::wrap(reinterpret_cast<void*>(memory->first), memory->second));
    } else if (const TensorMemory* tensor = std::get_if<TensorMemory>(&binding)) {
      const auto& [address, bytes, extents] = *tensor;
      dispatch.tensor(index, Buffer::wrap(reinterpret_cast<void*>(address), bytes), extents);
    } else {
      const HostArray& array = *std::get<const HostArray*>(binding);
      dispatch.buffer(index, Buffer::wrap(array.data(), array.bytes()));
    }
  }
  for (const auto& [index, bytes] : threadgroup_memory) dispatch.threadgroup_memory(index, bytes);
  if (timeout) {
    if (!std::isfinite(*timeout) || *timeout < 0) throw nb::value_error("timeout must be seconds, 0 or more");
    dispatch.timeout(std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*timeout)));
  }
  return dispatch;
}

}  // namespace metalloid
