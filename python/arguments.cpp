#include "arguments.h"

#include <chrono>
#include <cmath>
#include <map>

#include "metalloid/check.h"
#include "metalloid/reflection.h"

namespace metalloid {

std::string kind_of(nb::dlpack::dtype dtype) {
  switch (static_cast<nb::dlpack::dtype_code>(dtype.code)) {
    case nb::dlpack::dtype_code::Int: return "int";
    case nb::dlpack::dtype_code::UInt: return "uint";
    case nb::dlpack::dtype_code::Float: return "float";
    case nb::dlpack::dtype_code::Bfloat: return "bfloat";
    case nb::dlpack::dtype_code::Complex: return "complex";
    case nb::dlpack::dtype_code::Bool: return "bool";
    default: return "other";
  }
}

void check_dlpack_device(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack_device__")) return;
  // DLDeviceType: 1 is the host's memory, and 3 and 11 are kinds of it; 13 is reached by the host too.
  int type = 0;
  if (!nb::try_cast(nb::object(nb::object(object.attr("__dlpack_device__")())[0]), type)) return;
  if (type == 1 || type == 3 || type == 11 || type == 13) return;
  static const std::map<int, std::string> names = {{2, "CUDA"}, {4, "OpenCL"}, {7, "Vulkan"}, {8, "Metal"},
                                                   {9, "VPI"},  {10, "ROCm"},  {14, "oneAPI"}};
  const auto name = names.find(type);
  const std::string device = name == names.end() ? "DLPack device " + std::to_string(type) : name->second;
  throw nb::value_error(
      ("array is in the memory of another device (" + device + "): copy it to the host first").c_str());
}

// For the checker. What is bound to an integer in 8 bytes is Python's int, which goes over as an int64.
ElementType elements_of(const nb::bytes& bytes, const Kernel& kernel, std::uint32_t index) {
  if (bytes.size() != sizeof(std::int64_t) || !is_checking()) return ElementType::none;
  using enum ElementTypeInfo::Kind;
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    if (argument.kind != ArgumentKind::buffer || argument.index != index || !argument.is_reference) continue;
    const TypeInfo& type = argument.type;
    const auto kind = info_of(type.scalar).kind;
    const bool is_one = type.rows == 1 && type.columns == 1 && type.array_length == 0;
    if (is_one && (kind == signed_integer || kind == unsigned_integer)) return ElementType::int64;
  }
  return ElementType::none;
}

Dispatch make_dispatch(const Kernel& kernel, const Bindings& bindings,
                       const std::map<std::uint32_t, std::size_t>& threadgroup_memory, std::optional<double> timeout,
                       std::optional<Device> device) {
  const auto wrap = [&](const MemoryRange& memory) {
    const auto [address, size] = memory;
    return device ? Buffer::wrap(*device, address, size) : Buffer::wrap(reinterpret_cast<void*>(address), size);
  };
  Dispatch dispatch;
  for (const auto& [index, binding] : bindings) {
    if (const nb::bytes* bytes = std::get_if<nb::bytes>(&binding)) {
      dispatch.bytes(index, {static_cast<const std::byte*>(bytes->data()), bytes->size()},
                     elements_of(*bytes, kernel, index));
    } else if (const MemoryRange* memory = std::get_if<MemoryRange>(&binding)) {
      dispatch.buffer(index, wrap(*memory));
    } else if (const AddressTable* table = std::get_if<AddressTable>(&binding)) {
      dispatch.bytes(index, {static_cast<const std::byte*>(table->first.data()), table->first.size()});
      for (const MemoryRange& one : table->second) dispatch.use(wrap(one));
    } else if (const TensorMemory* tensor = std::get_if<TensorMemory>(&binding)) {
      const auto& [address, bytes, extents] = *tensor;
      dispatch.tensor(index, wrap({address, bytes}), extents);
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
