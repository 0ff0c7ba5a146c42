// metalloid._core.MetalKernel: metal_kernel on Python's arrays. The call model is in metalloid/fast/*.py.
#include "metalloid/fast.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>

#include "arguments.h"
#include "bindings.h"
#include "fast_arguments.h"
#include "gil.h"
#include "interrupts.h"
#include "metalloid/queue.h"
#include "metalloid/tune.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;
using namespace metalloid::fast;

namespace metalloid_python {
Dtype dtype_named(std::string_view name) {
  const Dtype found = find_element_type([&](const ElementTypeInfo& info) { return info.library_name == name; });
  if (found == Dtype::none) {
    throw nb::type_error(("[metal_kernel] Not an element type that a kernel can have: " + std::string(name)).c_str());
  }
  return found;
}

TemplateArguments template_arguments(const PythonTemplate& values) {
  TemplateArguments result;
  for (const auto& [name, value] : values) {
    if (PyBool_Check(value.ptr())) {
      result.emplace_back(name, nb::cast<bool>(value));
    } else if (PyUnicode_Check(value.ptr())) {
      result.emplace_back(name, dtype_named(nb::cast<std::string>(value)));
    } else {
      result.emplace_back(name, nb::cast<int>(value));
    }
  }
  return result;
}

}  // namespace metalloid_python

using namespace metalloid_python;

namespace {

// A format of the struct module, as the buffer protocol uses it, with the item's size.
Dtype dtype_of_format(std::string_view format, std::size_t size) {
  if (format == "bfloat16") return Dtype::bfloat16;  // mx.array's spelling
  const bool foreign = !format.empty() && (format[0] == '>' || format[0] == '!');
  if (foreign && size > 1) throw nb::value_error("[metal_kernel] Array is not in native byte order.");
  if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) format.remove_prefix(1);
  if (format == "Zf" && size == 8) return Dtype::complex64;
  if (format.size() == 1) {
    const char code = format[0];
    if (code == '?') return Dtype::boolean;
    if (std::string_view("bhilqn").find(code) != std::string_view::npos) return integer_type(size, true);
    if (std::string_view("cBHILQN").find(code) != std::string_view::npos) return integer_type(size, false);
    if (code == 'e') return Dtype::float16;
    if (code == 'f') return Dtype::float32;
    if (code == 'd') return Dtype::float64;
  }
  throw nb::type_error(
      ("[metal_kernel] Array elements of format " + std::string(format) + " are not supported.").c_str());
}

Dtype dtype_of_dlpack(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const int bits = dtype.bits;
  const auto bytes = static_cast<std::size_t>(bits) / 8;
  switch (static_cast<Code>(dtype.code)) {
    case Code::Bool: return Dtype::boolean;
    case Code::Int: return integer_type(bytes, true);
    case Code::UInt: return integer_type(bytes, false);
    case Code::Bfloat: return Dtype::bfloat16;
    case Code::Float:
      if (bits == 16) return Dtype::float16;
      if (bits == 32) return Dtype::float32;
      if (bits == 64) return Dtype::float64;
      break;
    case Code::Complex:
      if (bits == 64) return Dtype::complex64;
      break;
    default: break;
  }
  throw nb::type_error("[metal_kernel] Array elements of this type are not supported.");
}

// Of an array in a device's memory: address, shape, strides in elements, none of them negative, and dtype.
using DeviceArray = std::tuple<std::uintptr_t, Shape, Strides, std::string>;

Array array_in(const Device& device, const DeviceArray& given) {
  const auto& [address, shape, strides, dtype] = given;
  Array array;
  array.shape = shape;
  array.strides = strides;
  array.dtype = dtype_named(dtype);
  std::size_t elements = array.size() == 0 ? 0 : 1;
  for (std::size_t d = 0; elements != 0 && d < shape.size(); ++d) {
    elements += static_cast<std::size_t>(shape[d] - 1) * static_cast<std::size_t>(strides.at(d));
  }
  array.buffer = elements == 0 ? Buffer(device, 1) : Buffer::wrap(device, address, elements * size_of(array.dtype));
  return array;
}

// An Array over a Python object's memory, which stays there until this is destroyed.
class Borrowed {
 public:
  // A tuple is an array of the device.
  Borrowed(nb::handle object, bool writable, const Device* device = nullptr) {
    if (device && nb::isinstance<nb::tuple>(object)) {
      array = array_in(*device, nb::cast<DeviceArray>(object));
      return;
    }
    if (from_scalar(object)) return;
    nb::object source = nb::borrow(object);
    if (!PyObject_CheckBuffer(source.ptr())) {
      from_dlpack(source);
    } else if (!from_buffer(source, writable)) {
      nb::python_error why;  // takes Python's error
      if (!is_numpy_bfloat(source)) throw std::move(why);
      if (!from_buffer(nb::object(source.attr("view")("uint16")), writable)) nb::raise_python_error();
      array.dtype = Dtype::bfloat16;
    }
  }
  ~Borrowed() {
    if (has_view_) PyBuffer_Release(&view_);
  }
  Borrowed(const Borrowed&) = delete;

  Array array;

 private:
  // Python's numbers become arrays without dimensions.
  bool from_scalar(nb::handle object) {
    if (PyBool_Check(object.ptr())) {
      array = Array::scalar<bool>(nb::cast<bool>(object), Dtype::boolean);
    } else if (PyLong_Check(object.ptr())) {
      std::int64_t value = 0;
      if (!nb::try_cast(object, value)) throw nb::value_error("[metal_kernel] An integer input does not fit int64.");
      const bool is_small =
          value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
      array = is_small ? Array::scalar<std::int32_t>(static_cast<std::int32_t>(value), Dtype::int32)
                       : Array::scalar<std::int64_t>(value, Dtype::int64);
    } else if (PyFloat_Check(object.ptr())) {
      array = Array::scalar<float>(static_cast<float>(PyFloat_AsDouble(object.ptr())), Dtype::float32);
    } else if (PyComplex_Check(object.ptr())) {
      const double real = PyComplex_RealAsDouble(object.ptr()), imaginary = PyComplex_ImagAsDouble(object.ptr());
      array = Array::scalar<std::array<float, 2>>({static_cast<float>(real), static_cast<float>(imaginary)},
                                                  Dtype::complex64);
    } else {
      return false;
    }
    return true;
  }

  static bool is_numpy_bfloat(nb::handle object) {
    if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return false;
    const nb::object dtype = object.attr("dtype");
    return nb::cast<std::string>(nb::str(nb::handle(dtype))) == "bfloat16";
  }

  // False with a Python error set where the object does not give a buffer.
  bool from_buffer(nb::handle object, bool writable) {
    const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) return false;
    has_view_ = true;
    const auto dimensions = static_cast<std::size_t>(view_.ndim);
    array.dtype =
        dtype_of_format(view_.format == nullptr ? "B" : view_.format, static_cast<std::size_t>(view_.itemsize));
    Strides strides(dimensions);
    Shape shape(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) {
      shape[d] = extent(view_.shape[d]);
      strides[d] = view_.strides[d] / view_.itemsize;
      if (view_.strides[d] % view_.itemsize != 0 && shape[d] > 1) {
        throw nb::value_error("[metal_kernel] Array strides are not whole elements.");
      }
    }
    array = Array::wrap(view_.buf, std::move(shape), std::move(strides), array.dtype);
    return true;
  }

  void from_dlpack(nb::object object) {
    metalloid::check_dlpack_device(object);
    if (nb::hasattr(object, "requires_grad") && nb::hasattr(object, "detach")) object = object.attr("detach")();
    // A torch tensor may stand for the conjugate or the negative of what its memory holds.
    for (const auto& [asks, resolves] : {std::pair("is_conj", "resolve_conj"), std::pair("is_neg", "resolve_neg")}) {
      if (nb::hasattr(object, resolves) && nb::cast<bool>(object.attr(asks)())) object = object.attr(resolves)();
    }
    if (!nb::try_cast(object, tensor_)) {
      const std::string type =
          nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())))));
      throw nb::type_error(("[metal_kernel] Not an array in this machine's memory, nor a number: " + type).c_str());
    }
    if (tensor_.data() == nullptr && tensor_.size() != 0) {
      throw nb::value_error("[metal_kernel] Array has no memory.");
    }
    array.dtype = dtype_of_dlpack(tensor_.dtype());
    Strides strides(tensor_.ndim());
    Shape shape(tensor_.ndim());
    for (std::size_t d = 0; d < tensor_.ndim(); ++d) {
      shape[d] = extent(static_cast<std::ptrdiff_t>(tensor_.shape(d)));
      strides[d] = tensor_.stride(d);
    }
    array = Array::wrap(const_cast<void*>(static_cast<const void*>(tensor_.data())), std::move(shape),
                        std::move(strides), array.dtype);
  }

  static std::int32_t extent(std::ptrdiff_t value) {
    if (value > std::numeric_limits<std::int32_t>::max()) {
      throw nb::value_error("[metal_kernel] Array dimension is too large.");
    }
    return static_cast<std::int32_t>(value);
  }

  Py_buffer view_{};
  bool has_view_ = false;
  nb::ndarray<nb::ro, nb::device::cpu> tensor_;
};

struct BorrowedList {
  BorrowedList(const nb::sequence& objects, bool writable, const Device* device = nullptr) {
    for (nb::handle object : objects) arrays.push_back(memory.emplace_back(object, writable, device).array);
  }
  std::deque<Borrowed> memory;
  std::vector<Array> arrays;
};

// Errors as MLX raises them: ValueError for arguments, RuntimeError (metalloid.Error is one) for all else.
template <typename Action>
auto with_errors(Action action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument) throw nb::value_error(error.what());
    if (error.code() != ErrorCode::compile_error) throw;
    const nb::object type = nb::module_::import_("metalloid._core").attr("Error");
    nb::object exception = type(error.what());
    exception.attr("code") = std::string(name_of(error.code()));
    PyErr_SetObject(type.ptr(), exception.ptr());
    throw nb::python_error();
  }
}

MetalKernel make(const std::string& name, const std::vector<std::string>& input_names,
                 const std::vector<std::string>& output_names, const std::string& source, const std::string& header,
                 bool ensure_row_contiguous, bool atomic_outputs, const std::string& math_mode) {
  const MathMode mode = math_mode == "safe"      ? MathMode::safe
                        : math_mode == "relaxed" ? MathMode::relaxed
                                                 : MathMode::fast;
  return with_errors([&] {
    return metal_kernel(name, input_names, output_names, source, header, ensure_row_contiguous, atomic_outputs, mode);
  });
}

void run_metal_kernel(const MetalKernel& kernel, const nb::sequence& inputs, const nb::sequence& outputs,
                      std::array<int, 3> grid, std::array<int, 3> threadgroup, const PythonTemplate& templates,
                      std::optional<float> init_value, const std::string& device) {
  const BorrowedList input_list(inputs, false), output_list(outputs, true);
  const Launch launch{grid, threadgroup, template_arguments(templates), init_value};
  with_errors([&] {
    const Device chosen = Device::named(device);
    const InterruptScope interruptible;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();  // one that came just before
    const metalloid_python::GilRelease released;
    kernel.run(input_list.arrays, output_list.arrays, launch, chosen);
  });
}

// On a stream of the device's in whose memory arrays are that come as tuples. All outputs do.
void run_metal_kernel_on(const MetalKernel& kernel, Stream& stream, const nb::sequence& inputs,
                         const nb::sequence& outputs, std::array<int, 3> grid, std::array<int, 3> threadgroup,
                         const PythonTemplate& templates) {
  const BorrowedList input_list(inputs, false, &stream.device()), output_list(outputs, true, &stream.device());
  const Launch launch{grid, threadgroup, template_arguments(templates), std::nullopt};
  with_errors([&] {
    const InterruptScope interruptible;  // it may have to be compiled
    const metalloid_python::GilRelease released;
    if (std::ranges::find(grid, 0) != grid.end()) {
      return kernel.check(input_list.arrays, output_list.arrays, launch, stream.device());
    }
    const auto [ready, dispatch] = kernel.prepare(input_list.arrays, output_list.arrays, launch, stream.device());
    stream.dispatch(ready, dispatch);
  });
}

TuneResult tune_metal_kernel(const MetalKernel& kernel, const nb::sequence& inputs,
                             const std::vector<Shape>& output_shapes, const std::vector<std::string>& output_dtypes,
                             std::array<int, 3> grid, bool grid_counts_threads, std::array<int, 3> threadgroup,
                             const PythonTemplate& templates, std::optional<float> init_value,
                             const std::string& device, const TuneOptions& options) {
  const BorrowedList input_list(inputs, false);
  std::vector<Array> outputs;
  for (std::size_t i = 0; i < output_shapes.size(); ++i) {
    outputs.push_back(Array::zeros(output_shapes[i], dtype_named(output_dtypes[i])));
  }
  return with_errors([&] {
    const Device chosen = Device::named(device);
    const Launch launch{grid, {1, 1, 1}, template_arguments(templates), init_value};
    const InterruptScope interruptible;
    const metalloid_python::GilRelease released;
    auto [ready, dispatch] = kernel.prepare(input_list.arrays, outputs, launch, chosen);
    auto size = [](const std::array<int, 3>& extents) {
      return Size{static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
                  static_cast<std::uint32_t>(extents[2])};
    };
    if (grid_counts_threads) {
      dispatch.threads(size(grid), size(threadgroup));
    } else {
      dispatch.threadgroups(size(grid), size(threadgroup));
    }
    return tune(ready, dispatch, options);
  });
}

std::pair<std::string, std::string> generated_source(const MetalKernel& kernel, const nb::sequence& inputs,
                                                     const std::vector<std::string>& output_dtypes,
                                                     const PythonTemplate& templates) {
  // A pair of a dtype's name and a shape stands for an array without memory.
  std::deque<Borrowed> memory;
  std::vector<Array> arrays;
  for (nb::handle input : inputs) {
    if (nb::isinstance<nb::tuple>(input)) {
      const auto [name, shape] = nb::cast<std::pair<std::string, Shape>>(input);
      arrays.push_back(Array::wrap(nullptr, shape, dtype_named(name)));
    } else {
      arrays.push_back(memory.emplace_back(input, false).array);
    }
  }
  std::vector<Dtype> dtypes;
  for (const std::string& name : output_dtypes) dtypes.push_back(dtype_named(name));
  const GeneratedSource source =
      with_errors([&] { return kernel.source(arrays, dtypes, template_arguments(templates)); });
  return {source.kernel_name, source.text};
}

}  // namespace

void bind_fast(nb::module_& module) {
  // Kernels usually are globals of the user's modules, and Python does not destroy those at exit.
  nb::set_leak_warnings(false);
  nb::class_<MetalKernel> kernel(module, "MetalKernel");
  kernel
      .def(nb::new_(&make), "name"_a, "input_names"_a, "output_names"_a, "source"_a, "header"_a,
           "ensure_row_contiguous"_a, "atomic_outputs"_a, "math_mode"_a)
      .def_prop_ro("name", &MetalKernel::name)
      .def_prop_ro("input_names", &MetalKernel::input_names)
      .def_prop_ro("output_names", &MetalKernel::output_names)
      .def("run", &run_metal_kernel, "inputs"_a, "outputs"_a, "grid"_a, "threadgroup"_a, "template"_a,
           "init_value"_a.none(), "device"_a)
      .def("run_on", &run_metal_kernel_on, "stream"_a, "inputs"_a, "outputs"_a, "grid"_a, "threadgroup"_a, "template"_a)
      .def("tune", &tune_metal_kernel, "inputs"_a, "output_shapes"_a, "output_dtypes"_a, "grid"_a,
           "grid_counts_threads"_a, "threadgroup"_a, "template"_a, "init_value"_a.none(), "device"_a, "options"_a)
      .def("source", &generated_source, "inputs"_a, "output_dtypes"_a, "template"_a);
  bind_fast_mlx(module, kernel);
}
