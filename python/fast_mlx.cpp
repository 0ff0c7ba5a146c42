// metal_kernel on mx.array without waiting: the other side of metalloid/fast/_mlx/extension.
//
// The extension is a plain shared library, so something must find the mlx::core::array inside a Python object.
// nanobind, which MLX is bound with, keeps it right behind the object's header. That is no documented interface of
// nanobind; load_mlx_extension() checks it on an array whose shape is known, and every object is compared with that
// one.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "bindings.h"
#include "fast_arguments.h"
#include "gil.h"
#include "interrupts.h"
#include "metalloid/fast/_mlx/extension/interface.h"
#include "metalloid/metalloid.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;
using namespace metalloid::fast;
using namespace metalloid::mlx_extension;
using namespace metalloid_python;

namespace {

// A kernel with one launch, which lives as long as MLX's graph needs it.
struct Call {
  MetalKernel kernel;
  Launch launch;
  Device device;
};

// What stands between Python's part of an object and the C++ object: where it is, and in which state.
struct InstanceHeader {
  std::int32_t offset = 0;
  std::uint32_t state = 0;
  bool operator==(const InstanceHeader&) const = default;
};

InstanceHeader header_of(PyObject* object) {
  InstanceHeader header;
  std::memcpy(&header, reinterpret_cast<std::byte*>(object) + sizeof(PyObject), sizeof(header));
  return header;
}

// The extension, once it is loaded; then unchanged until the process ends.
struct Loaded {
  const Extension* extension = nullptr;
  PyTypeObject* type = nullptr;  // mx.array
  InstanceHeader header;
} loaded;

bool is_plain_array(PyObject* object) { return Py_TYPE(object) == loaded.type && header_of(object) == loaded.header; }

void* array_of(PyObject* object) { return reinterpret_cast<std::byte*>(object) + loaded.header.offset; }

// mlx::core::array* of every object. Objects in another state than usual are replaced by new ones that share their
// data.
std::vector<void*> arrays_of(const nb::sequence& objects, std::vector<nb::object>& owners) {
  std::vector<void*> result;
  for (nb::handle object : objects) {
    owners.push_back(nb::borrow(object));
    if (!is_plain_array(object.ptr())) {
      owners.back() =
          nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(loaded.type), object.ptr(), nullptr));
      if (!owners.back().is_valid()) nb::raise_python_error();
      if (!is_plain_array(owners.back().ptr())) throw nb::type_error("[metal_kernel] Not an mx.array.");
    }
    result.push_back(array_of(owners.back().ptr()));
  }
  return result;
}

std::vector<Array> arrays(const ArrayView* views, std::size_t count) {
  std::vector<Array> result;
  for (std::size_t i = 0; i < count; ++i) {
    const ArrayView& view = views[i];
    result.push_back(Array::wrap(view.data, Shape(view.shape, view.shape + view.dimensions),
                                 Strides(view.strides, view.strides + view.dimensions),
                                 static_cast<Dtype>(view.dtype)));
  }
  return result;
}

template <typename Action>
void report(Failure* failure, Action action) {
  try {
    action();
  } catch (const Error& error) {
    const bool is_argument = error.code() == ErrorCode::invalid_argument;
    *failure = {is_argument ? Failure::invalid_argument : Failure::other, strdup(error.what())};
  } catch (const std::exception& error) {
    *failure = {Failure::other, strdup(error.what())};
  }
}

constexpr Host host{
    [](void* call, const ArrayView* inputs, std::size_t input_count, const ArrayView* outputs, std::size_t output_count,
       Failure* failure) {
      report(failure, [&] {
        const auto& [kernel, launch, device] = *static_cast<Call*>(call);
        kernel.check(arrays(inputs, input_count), arrays(outputs, output_count), launch, device);
      });
    },
    [](void* call, const ArrayView* inputs, std::size_t input_count, const ArrayView* outputs, std::size_t output_count,
       Failure* failure) {
      report(failure, [&] {
        const auto& [kernel, launch, device] = *static_cast<Call*>(call);
        const metalloid_python::InterruptScope interruptible;
        kernel.run(arrays(inputs, input_count), arrays(outputs, output_count), launch, device);
      });
    },
    [](void* call) { delete static_cast<Call*>(call); },
};

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

// `probe` is an mx.array of the shape (3, 5).
void load(const std::string& path, nb::handle probe) {
  if (loaded.extension != nullptr) return;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(dlerror());
  const auto entry = reinterpret_cast<Entry*>(dlsym(library, entry_name));
  if (entry == nullptr) refuse(path + " is not Metalloid's extension for MLX");
  const Extension* extension = entry(&host);
  if (extension->version != interface_version) refuse(path + " belongs to another version of Metalloid");

  const InstanceHeader header = header_of(probe.ptr());
  const auto object_size = nb::cast<std::size_t>(probe.type().attr("__basicsize__"));
  constexpr std::size_t behind_header = sizeof(PyObject) + sizeof(InstanceHeader);
  bool is_as_expected = header.offset == static_cast<std::int32_t>(behind_header) &&
                        object_size >= behind_header + extension->array_size &&
                        object_size <= behind_header + extension->array_size + 2 * sizeof(void*);
  if (is_as_expected) {
    std::int32_t shape[2] = {};
    void* array = reinterpret_cast<std::byte*>(probe.ptr()) + header.offset;
    is_as_expected = extension->shape_of(array, shape, 2) == 2 && shape[0] == 3 && shape[1] == 5;
  }
  if (!is_as_expected) refuse("this version of MLX keeps its arrays in another place of their Python objects");
  loaded = {extension, Py_TYPE(probe.ptr()), header};
}

bool is_traced(const nb::sequence& objects) {
  std::vector<nb::object> owners;
  const std::vector<void*> pointers = arrays_of(objects, owners);
  return loaded.extension->is_traced(pointers.data(), pointers.size());
}

// `outputs` are new arrays, which nobody has seen; they become the outputs of the kernel.
void add_node(const MetalKernel& kernel, const nb::sequence& inputs, const nb::sequence& outputs,
              const std::vector<Shape>& output_shapes, const std::vector<std::string>& output_dtypes,
              std::array<int, 3> grid, std::array<int, 3> threadgroup, const PythonTemplate& templates,
              std::optional<float> init_value, const std::string& device) {
  std::vector<nb::object> owners;
  const std::vector<void*> input_arrays = arrays_of(inputs, owners), output_arrays = arrays_of(outputs, owners);
  std::vector<ArrayView> types;
  for (std::size_t i = 0; i < output_shapes.size(); ++i) {
    const Shape& shape = output_shapes[i];
    types.push_back({nullptr, static_cast<int>(dtype_named(output_dtypes.at(i))), shape.size(), shape.data(), nullptr});
  }
  if (output_arrays.size() != types.size()) throw nb::value_error("as many outputs as shapes are needed");
  // MLX's memory comes as it is; outputs start from zero as they do everywhere else.
  const Launch launch{grid, threadgroup, template_arguments(templates), init_value.value_or(0)};
  auto* call = new Call{kernel, launch, Device::named(device)};
  Failure failure;
  loaded.extension->add_node(call, input_arrays.data(), input_arrays.size(), types.data(), output_arrays.data(),
                             output_arrays.size(), &failure);
  if (failure.kind == Failure::none) return;
  const std::string text = failure.text;
  std::free(failure.text);
  if (failure.kind == Failure::invalid_argument) throw nb::value_error(text.c_str());
  throw std::runtime_error(text);
}

}  // namespace

void bind_fast_mlx(nb::module_& module, nb::class_<MetalKernel>& kernel) {
  kernel.def("add_mlx_node", &add_node, "inputs"_a, "outputs"_a, "output_shapes"_a, "output_dtypes"_a, "grid"_a,
             "threadgroup"_a, "template"_a, "init_value"_a.none(), "device"_a);
  module.def("load_mlx_extension", &load, "path"_a, "probe"_a);
  module.def("mlx_is_traced", &is_traced, "arrays"_a);
  module.def("finish_mlx_kernels", [] {
    const metalloid_python::GilRelease released;
    if (loaded.extension != nullptr) loaded.extension->finish();
  });
}
