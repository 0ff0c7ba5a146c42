// Kernel arguments as Python hands them to the library: memory of arrays, and dispatches made of it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "metalloid/dispatch.h"

namespace metalloid {

namespace nb = nanobind;

// Throws ValueError for an object that says its memory is not the host's (`__dlpack_device__`).
void check_dlpack_device(nb::handle object);

// "bool", "int", "uint", "float", "bfloat", "complex", or "other" (structured types).
std::string kind_of(nb::dlpack::dtype dtype);

// Memory of a Python object that has the buffer protocol or DLPack, without a copy. Kept alive with the object.
class HostArray {
 public:
  explicit HostArray(nb::handle object) {
    if (PyObject_CheckBuffer(object.ptr())) {
      from_buffer(object);
    } else {
      from_dlpack(object);
    }
  }
  ~HostArray() {
    if (has_view_) PyBuffer_Release(&view_);
  }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return count_ * item_bytes_; }
  std::size_t count() const { return count_; }
  std::size_t item_bytes() const { return item_bytes_; }
  std::size_t dimensions() const { return dimensions_; }
  bool writable() const { return writable_; }
  // As kind_of() has it.
  const std::string& kind() const { return kind_; }

 private:
  void from_buffer(nb::handle object) {
    const int flags = PyBUF_FORMAT | PyBUF_STRIDES;
    writable_ = PyObject_GetBuffer(object.ptr(), &view_, flags | PyBUF_WRITABLE) == 0;
    if (!writable_) {
      PyErr_Clear();
      if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) nb::raise_python_error();
    }
    has_view_ = true;
    if (!PyBuffer_IsContiguous(&view_, 'C')) {
      throw nb::value_error("array is not C-contiguous: a kernel sees memory, not strides (numpy.ascontiguousarray)");
    }
    data_ = view_.buf;
    item_bytes_ = static_cast<std::size_t>(view_.itemsize);
    count_ = item_bytes_ == 0 ? 0 : static_cast<std::size_t>(view_.len) / item_bytes_;
    dimensions_ = static_cast<std::size_t>(view_.ndim);
    kind_ = kind_of_format(view_.format == nullptr ? "B" : view_.format);
  }

  // Formats of the struct module, as NumPy extends it.
  std::string kind_of_format(std::string format) const {
    check_format(format);
    if (!format.empty() && std::string("@=<>!").find(format[0]) != std::string::npos) format.erase(0, 1);
    if (format == "?") return "bool";
    if (format.size() == 1 && std::string("bhilqn").find(format[0]) != std::string::npos) return "int";
    if (format.size() == 1 && std::string("cBHILQN").find(format[0]) != std::string::npos) return "uint";
    if (format.size() == 1 && std::string("efd").find(format[0]) != std::string::npos) return "float";
    if (format.size() == 2 && format[0] == 'Z') return "complex";
    return "other";
  }

  // What no kernel can take, in a structure's members (`:name:` follows each) too.
  void check_format(const std::string& format) const {
    bool in_name = false, foreign_order = false;
    for (const char code : format) {
      if (code == ':') in_name = !in_name;
      if (in_name) continue;
      if (code == '>' || code == '!') foreign_order = item_bytes_ > 1;
      if (code == 'O') throw nb::type_error("Cannot bind an array of Python objects");
      if (code == 'w' || code == 's' || code == 'p') throw nb::type_error("Cannot bind an array of text");
      if (code == 'g') throw nb::type_error("Cannot bind an array of long doubles, as Metal doesn't have that type");
    }
    if (foreign_order) {
      throw nb::value_error("array is not in this machine's byte order (array.astype(array.dtype.newbyteorder('=')))");
    }
  }

  void from_dlpack(nb::handle object) {
    check_dlpack_device(object);
    nb::ndarray<nb::device::cpu> writable;
    nb::ndarray<nb::ro, nb::device::cpu> array;
    writable_ = nb::try_cast(object, writable);
    if (writable_) {
      take(writable);
    } else if (nb::try_cast(object, array)) {
      take(array);
    } else {
      // What the owner itself says about it, if anything.
      if (nb::hasattr(object, "__dlpack__")) (void)object.attr("__dlpack__")();
      throw nb::type_error("Unsupported argument type");
    }
    owner_ = nb::borrow(object);
  }

  template <typename Array>
  void take(Array& array) {
    std::int64_t expected = 1;
    for (std::size_t i = array.ndim(); i-- > 0;) {
      if (array.shape(i) != 1 && array.stride(i) != expected && array.size() != 0) {
        throw nb::value_error("array is not C-contiguous: a kernel sees memory, not strides (call .contiguous())");
      }
      expected *= static_cast<std::int64_t>(array.shape(i));
    }
    if (array.data() == nullptr && array.size() != 0) throw nb::value_error("array has no memory");
    data_ = const_cast<void*>(static_cast<const void*>(array.data()));
    item_bytes_ = array.itemsize();
    count_ = array.size();
    dimensions_ = array.ndim();
    kind_ = kind_of(array.dtype());
    tensor_ = nb::ndarray<nb::ro>(array);
  }

  Py_buffer view_{};
  bool has_view_ = false;
  nb::ndarray<nb::ro> tensor_;  // keeps DLPack's tensor
  nb::object owner_;
  void* data_ = nullptr;
  std::size_t count_ = 0, item_bytes_ = 0, dimensions_ = 0;
  bool writable_ = false;
  std::string kind_;
};

using Extents = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
// A tensor's elements: address, length in bytes, extents (dimension 0 first).
using TensorMemory = std::tuple<std::uintptr_t, std::size_t, std::vector<std::int64_t>>;
// Memory by address and length in bytes.
using MemoryRange = std::pair<std::uintptr_t, std::size_t>;
// Addresses, 8 bytes each, and the memory that they lead to.
using AddressTable = std::pair<nb::bytes, std::vector<MemoryRange>>;
// An array, inline bytes, or memory (which the caller keeps alive).
using Binding = std::variant<const HostArray*, nb::bytes, MemoryRange, TensorMemory, AddressTable>;
using Bindings = std::vector<std::pair<std::uint32_t, Binding>>;

inline Size size_from(const Extents& extents) {
  return {std::get<0>(extents), std::get<1>(extents), std::get<2>(extents)};
}

// All but the grid. `timeout` in seconds. Memory is that of `device` if there is one, else the host's.
Dispatch make_dispatch(const Kernel& kernel, const Bindings& bindings,
                       const std::map<std::uint32_t, std::size_t>& threadgroup_memory, std::optional<double> timeout,
                       std::optional<Device> device = std::nullopt);

}  // namespace metalloid
