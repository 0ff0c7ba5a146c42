// metalloid._core.DLPackMemory: what DLPack says of an array in a device's memory.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.h"
#include "bindings.h"

namespace nb = nanobind;
using namespace metalloid;

namespace {

// Keeps the array's memory.
struct DLPackMemory {
  explicit DLPackMemory(nb::handle capsule) {
    nb::ndarray<> mutable_tensor;
    writable = nb::try_cast(capsule, mutable_tensor);
    if (writable) {
      tensor = nb::ndarray<nb::ro>(mutable_tensor);
    } else if (!nb::try_cast(capsule, tensor)) {
      throw nb::type_error("__dlpack__() gave no DLPack capsule that can be read");
    }
  }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(tensor.data()); }
  std::vector<std::size_t> shape() const { return {tensor.shape_ptr(), tensor.shape_ptr() + tensor.ndim()}; }
  std::vector<std::int64_t> strides() const {
    std::vector<std::int64_t> result;
    for (std::size_t d = 0; d < tensor.ndim(); ++d) result.push_back(tensor.stride(d));
    return result;
  }

  nb::ndarray<nb::ro> tensor;
  bool writable = false;
};

}  // namespace

void bind_dlpack(nb::module_& module) {
  nb::class_<DLPackMemory>(module, "DLPackMemory")
      .def(nb::init<nb::handle>())
      .def_prop_ro("address", &DLPackMemory::address)
      .def_prop_ro("count", [](const DLPackMemory& memory) { return memory.tensor.size(); })
      .def_prop_ro("item_bytes", [](const DLPackMemory& memory) { return memory.tensor.itemsize(); })
      .def_prop_ro("kind", [](const DLPackMemory& memory) { return kind_of(memory.tensor.dtype()); })
      .def_ro("writable", &DLPackMemory::writable)
      .def_prop_ro("shape", &DLPackMemory::shape)
      .def_prop_ro("strides", &DLPackMemory::strides);
}
