// metalloid._core: the C++ library for Python. Only what must be C++; the call model is in metalloid/*.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "metalloid/metalloid.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

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
  // "bool", "int", "uint", "float", "bfloat", "complex", or "other" (structured types).
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

  // Formats of the struct module; native order only.
  static std::string kind_of_format(std::string format) {
    if (!format.empty() && std::string("@=<").find(format[0]) != std::string::npos) format.erase(0, 1);
    if (format == "?") return "bool";
    if (format.size() == 1 && std::string("bhilqn").find(format[0]) != std::string::npos) return "int";
    if (format.size() == 1 && std::string("cBHILQN").find(format[0]) != std::string::npos) return "uint";
    if (format.size() == 1 && std::string("efd").find(format[0]) != std::string::npos) return "float";
    if (format.size() == 2 && format[0] == 'Z') return "complex";
    return "other";
  }

  void from_dlpack(nb::handle object) {
    nb::ndarray<nb::device::cpu> writable;
    nb::ndarray<nb::ro, nb::device::cpu> array;
    writable_ = nb::try_cast(object, writable);
    if (writable_) {
      take(writable);
    } else if (nb::try_cast(object, array)) {
      take(array);
    } else {
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
    data_ = const_cast<void*>(static_cast<const void*>(array.data()));
    item_bytes_ = array.itemsize();
    count_ = array.size();
    dimensions_ = array.ndim();
    switch (static_cast<nb::dlpack::dtype_code>(array.dtype().code)) {
      case nb::dlpack::dtype_code::Int: kind_ = "int"; break;
      case nb::dlpack::dtype_code::UInt: kind_ = "uint"; break;
      case nb::dlpack::dtype_code::Float: kind_ = "float"; break;
      case nb::dlpack::dtype_code::Bfloat: kind_ = "bfloat"; break;
      case nb::dlpack::dtype_code::Complex: kind_ = "complex"; break;
      case nb::dlpack::dtype_code::Bool: kind_ = "bool"; break;
      default: kind_ = "other";
    }
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

MathMode parse_math_mode(const std::string& name) {
  if (name == "safe") return MathMode::safe;
  if (name == "relaxed") return MathMode::relaxed;
  if (name == "fast") return MathMode::fast;
  throw nb::value_error(("math_mode must be 'safe', 'relaxed' or 'fast', not '" + name + "'").c_str());
}

Library compile(const std::string& source, const std::string& device, std::pair<int, int> language,
                const std::string& math_mode, std::vector<std::pair<std::string, std::string>> definitions,
                const std::vector<std::filesystem::path>& include_directories,
                std::map<std::string, std::string> headers, const std::string& source_name) {
  CompileOptions options;
  options.source_name = source_name;
  options.language = {static_cast<std::uint8_t>(language.first), static_cast<std::uint8_t>(language.second)};
  options.math_mode = parse_math_mode(math_mode);
  options.definitions = std::move(definitions);
  options.include_directories = include_directories;
  options.headers = std::move(headers);
  nb::gil_scoped_release released;
  return Device::named(device).make_library(source, options);
}

using ConstantKey = std::variant<std::uint32_t, std::string>;

Kernel make_kernel(const Library& library, const std::string& name,
                   const std::vector<std::pair<ConstantKey, nb::object>>& values) {
  FunctionConstants constants;
  auto convert = [](nb::handle value) -> FunctionConstants::Value {
    if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
    if (PyLong_Check(value.ptr())) return nb::cast<std::int64_t>(value);
    if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
    std::vector<std::int64_t> integers;
    if (nb::try_cast(value, integers)) return integers;
    std::vector<double> floats;
    if (nb::try_cast(value, floats)) return floats;
    throw nb::type_error("a function constant is a bool, an int, a float, or a sequence of ints or floats");
  };
  for (const auto& [key, value] : values) {
    std::visit([&](const auto& target) { constants.set(target, convert(value)); }, key);
  }
  nb::gil_scoped_release released;
  return library.kernel(name, constants);
}

using Extents = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
// A tensor's elements: address, length in bytes, extents (dimension 0 first).
using TensorMemory = std::tuple<std::uintptr_t, std::size_t, std::vector<std::int64_t>>;
// An array, inline bytes, or memory by address and length in bytes (the caller keeps that alive).
using Binding = std::variant<const HostArray*, nb::bytes, std::pair<std::uintptr_t, std::size_t>, TensorMemory>;

Size size_from(const Extents& extents) { return {std::get<0>(extents), std::get<1>(extents), std::get<2>(extents)}; }

void run_kernel(const Kernel& kernel, const std::vector<std::pair<std::uint32_t, Binding>>& bindings,
                const Extents& threads, const Extents& group,
                const std::map<std::uint32_t, std::size_t>& threadgroup_memory, std::optional<double> timeout) {
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
  dispatch.threads(size_from(threads), size_from(group));
  if (timeout) {
    if (!std::isfinite(*timeout) || *timeout < 0) throw nb::value_error("timeout must be seconds, 0 or more");
    dispatch.timeout(std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*timeout)));
  }
  nb::gil_scoped_release released;
  run(kernel, dispatch);
}

nb::list describe_arguments(const Kernel& kernel) {
  nb::list result;
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    if (argument.kind == ArgumentKind::builtin) continue;
    nb::dict entry;
    entry["name"] = argument.name;
    entry["index"] = argument.index;
    entry["kind"] = argument.kind == ArgumentKind::buffer   ? "buffer"
                    : argument.kind == ArgumentKind::tensor ? "tensor"
                                                            : "threadgroup";
    if (argument.kind == ArgumentKind::tensor) entry["extents"] = argument.extents;
    entry["type"] = argument.type.name;
    entry["scalar"] =
        argument.type.scalar == ScalarKind::none ? std::string() : std::string(name_of(argument.type.scalar));
    entry["item_bytes"] = size_of(argument.type.scalar);
    entry["bytes"] = argument.type.size;
    entry["rows"] = argument.type.rows;
    entry["writable"] = argument.access == Access::read_write;
    entry["active"] = argument.is_active;
    result.append(entry);
  }
  return result;
}

}  // namespace

NB_MODULE(_core, module) {
  module.attr("version") = std::string(version);

  // Compile errors are Python's SyntaxError with the compiler's log alone, as users of torch.mps know it.
  static nb::object error_type = nb::borrow(
      PyErr_NewExceptionWithDoc("metalloid.Error", "A kernel could not be made or run. `code` says why in one word.",
                                PyExc_RuntimeError, nullptr));
  module.attr("Error") = error_type;
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::compile_error) {
        PyErr_SetString(PyExc_SyntaxError, error.what());
        return;
      }
      nb::object exception = error_type(error.what());
      exception.attr("code") = std::string(name_of(error.code()));
      PyErr_SetObject(error_type.ptr(), exception.ptr());
    }
  });

  nb::class_<HostArray>(module, "HostArray")
      .def(nb::init<nb::handle>())
      .def_prop_ro("address", [](const HostArray& array) { return reinterpret_cast<std::uintptr_t>(array.data()); })
      .def_prop_ro("count", &HostArray::count)
      .def_prop_ro("bytes", &HostArray::bytes)
      .def_prop_ro("item_bytes", &HostArray::item_bytes)
      .def_prop_ro("dimensions", &HostArray::dimensions)
      .def_prop_ro("writable", &HostArray::writable)
      .def_prop_ro("kind", &HostArray::kind)
      .def("contents", [](const HostArray& array) { return nb::bytes(array.data(), array.bytes()); });

  nb::class_<Kernel>(module, "Kernel")
      .def_prop_ro("name", &Kernel::name)
      .def_prop_ro("max_threads_per_threadgroup", &Kernel::max_total_threads_per_threadgroup)
      .def_prop_ro("thread_execution_width", &Kernel::thread_execution_width)
      .def_prop_ro("static_thread_group_memory_length", &Kernel::static_threadgroup_memory_length)
      .def("arguments", &describe_arguments)
      .def("run", &run_kernel, "bindings"_a, "threads"_a, "group"_a, "threadgroup_memory"_a, "timeout"_a.none());

  nb::class_<Library>(module, "Library")
      .def("kernel_names", &Library::kernel_names)
      .def_prop_ro("warnings", &Library::warnings)
      .def("kernel", &make_kernel, "name"_a, "constants"_a);

  module.def("compile", &compile, "source"_a, "device"_a, "language"_a, "math_mode"_a, "definitions"_a,
             "include_directories"_a, "headers"_a, "source_name"_a = "program_source");
  module.def("devices", [] {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Device& device : Device::all()) result.emplace_back(device.name(), device.description());
    return result;
  });
  module.def("engines", [] {
    std::vector<std::string> result;  // "cpu" is a second name of one of them
    for (const Device& device : Device::all()) {
      if (device.name() == device.engine()) result.push_back(device.name());
    }
    return result;
  });
  bind_fast(module);
  bind_recorder(module);
}
