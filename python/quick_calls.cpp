// metalloid._core.QuickCalls: calls of one kernel with tensors of one device, if all of a call is as in an earlier one.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bindings.h"
#include "gil.h"
#include "metalloid/check.h"
#include "metalloid/metalloid.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

// DLPack's exchange API in C, which types of tensors have as `__dlpack_c_exchange_api__` (dlpack.h, from 1.2 on).
struct ExchangeApi {
  struct {
    std::uint32_t major, minor;
  } version;
  const ExchangeApi* older;
  void *allocate, *managed_from_object, *managed_to_object;
  int (*tensor_from_object)(void* object, nb::dlpack::dltensor* out);  // lives as long as the object is not changed
  int (*current_stream)(int kind, std::int32_t number, void** stream);
};

// PyTorch's functions for compiled models (aoti_torch/c/shim.h): DLPack has no word for what lies behind a view.
struct TorchShim {
  using Question = int (*)(void* tensor, std::int64_t* answer);
  Question storage_bytes = nullptr, storage_offset = nullptr;
};

const TorchShim& torch_shim() {
  static const TorchShim shim = [] {
    TorchShim found;
    void* const library = ::dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
    if (!library) return found;
    found.storage_bytes = reinterpret_cast<TorchShim::Question>(::dlsym(library, "aoti_torch_get_storage_size"));
    found.storage_offset = reinterpret_cast<TorchShim::Question>(::dlsym(library, "aoti_torch_get_storage_offset"));
    return found;
  }();
  return shim;
}

// A type of tensors.
struct TensorType {
  PyTypeObject* type;
  const ExchangeApi* api;
  nb::object is_negative;  // its method
};

// The type's, if its tensors are memory and nothing else: subclasses that see operators need not have any.
std::optional<TensorType> tensor_type_of(nb::handle value) {
  constexpr const char* name = "dlpack_exchange_api";
  const nb::handle type = value.type();
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), name)) return std::nullopt;
  const nb::object dispatch = nb::getattr(type, "__torch_dispatch__", nb::none());
  const nb::object is_negative = nb::getattr(type, "is_neg", nb::none());
  if (is_negative.is_none() || !torch_shim().storage_bytes || !torch_shim().storage_offset) return std::nullopt;
  if (!dispatch.is(nb::module_::import_("torch").attr("_C").attr("_disabled_torch_dispatch_impl"))) return std::nullopt;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), name));
  while (api && api->version.major > 1) api = api->older;
  if (!api || api->version.major != 1 || !api->tensor_from_object) return std::nullopt;
  type.inc_ref();  // while its address is the key
  return TensorType{reinterpret_cast<PyTypeObject*>(type.ptr()), api, is_negative};
}

class QuickCalls {
 public:
  QuickCalls(const Kernel& kernel, int kind, int number, nb::object stream_at)
      : kernel_(kernel), kind_(kind), number_(number), stream_at_(std::move(stream_at)) {}

  // An argument that the long way found to be right: a tensor by its elements, a number by its type.
  void learn(std::size_t index, nb::handle value) {
    if (known_.size() <= index) known_.resize(index + 1);
    if (PyFloat_CheckExact(value.ptr())) {
      known_[index].takes_float = true;
    } else if (PyLong_CheckExact(value.ptr())) {
      known_[index].takes_int = true;
    } else if (const TensorType* type = type_of(value, /*learns=*/true)) {
      nb::dlpack::dltensor tensor;
      if (!read(*type, value, tensor)) return;
      auto& types = known_[index].types;
      if (std::ranges::find(types, tensor.dtype) == types.end()) types.push_back(tensor.dtype);
    }
  }

  // False, and nothing done, where the call wants the long way.
  bool call(const nb::tuple& args, nb::handle threads, nb::handle group) {
    const std::size_t count = args.size();
    if (count > known_.size() || is_checking()) return false;
    Dispatch dispatch;
    const ExchangeApi* api = nullptr;
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const nb::handle value = PyTuple_GetItem(args.ptr(), static_cast<Py_ssize_t>(i));
      const auto index = static_cast<std::uint32_t>(i);
      if (PyFloat_CheckExact(value.ptr())) {
        const auto number = static_cast<float>(PyFloat_AsDouble(value.ptr()));
        if (!known_[i].takes_float || number - number != 0) return false;
        dispatch.bytes(index, std::as_bytes(std::span(&number, 1)));
      } else if (PyLong_CheckExact(value.ptr())) {
        int overflow = 0;
        const std::int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
        if (!known_[i].takes_int || overflow != 0) return false;
        dispatch.bytes(index, std::as_bytes(std::span(&number, 1)));
      } else {
        const TensorType* const type = type_of(value, /*learns=*/false);
        Memory memory;
        if (!type || !memory_of(*type, value, known_[i], memory)) return false;
        if (!api) elements = memory.elements;
        api = type->api;
        dispatch.buffer(index, Buffer::wrap(kernel_.device(), memory.address, memory.bytes));
      }
    }
    if (!api) return false;
    Extents grid, block;
    if (threads.is_none()) {
      if (elements == 0 || elements > UINT32_MAX) return false;
      grid.extent[0] = static_cast<std::uint32_t>(elements);
      grid.count = 1;
    } else if (!read(threads, grid)) {
      return false;
    }
    Size threadgroup;
    if (group.is_none()) {
      threadgroup = kernel_.default_threadgroup(grid.size(), grid.count);
    } else if (read(group, block) && block.count == grid.count) {
      threadgroup = block.size();
      if (threadgroup.volume() > kernel_.max_total_threads_per_threadgroup()) return false;
    } else {
      return false;
    }
    dispatch.threads(grid.size(), threadgroup);
    Stream* const stream = current_stream(*api);
    if (!stream) return false;
    const metalloid_python::GilRelease released;
    stream->dispatch(kernel_, dispatch);
    return true;
  }

 private:
  struct Known {
    std::vector<nb::dlpack::dtype> types;
    bool takes_float = false, takes_int = false;
  };
  struct Memory {
    std::uint64_t address = 0, bytes = 0, elements = 1;
  };
  struct Extents {
    std::array<std::uint32_t, 3> extent = {1, 1, 1};
    unsigned count = 0;
    Size size() const { return {extent[0], extent[1], extent[2]}; }
  };

  const TensorType* type_of(nb::handle value, bool learns) {
    const auto* const type = reinterpret_cast<PyTypeObject*>(value.type().ptr());
    const auto found = std::ranges::find(types_, type, &TensorType::type);
    if (found != types_.end()) return &*found;
    constexpr std::size_t most_types = 16;
    if (!learns || types_.size() == most_types) return nullptr;
    auto made = tensor_type_of(value);
    return made ? &types_.emplace_back(*std::move(made)) : nullptr;
  }

  bool read(const TensorType& type, nb::handle value, nb::dlpack::dltensor& tensor) const {
    if (type.api->tensor_from_object(value.ptr(), &tensor) == 0) return true;
    PyErr_Clear();
    return false;
  }

  bool memory_of(const TensorType& type, nb::handle value, const Known& known, Memory& memory) const {
    nb::dlpack::dltensor tensor;
    if (!read(type, value, tensor)) return false;
    if (tensor.device.device_type != kind_ || tensor.device.device_id != number_ || !tensor.data) return false;
    if (std::ranges::find(known.types, tensor.dtype) == known.types.end()) return false;
    for (int d = 0; d < tensor.ndim; ++d) memory.elements *= static_cast<std::uint64_t>(tensor.shape[d]);
    const std::uint64_t item = (tensor.dtype.bits + 7U) / 8 * tensor.dtype.lanes;
    // The shim takes a pointer to a tensor, which is a pointer to its implementation.
    static PyObject* const name = PyUnicode_InternFromString("_cdata");
    const nb::object implementation = nb::steal(PyObject_GetAttr(value.ptr(), name));
    if (!implementation.is_valid()) nb::raise_python_error();
    void* pointer = PyLong_AsVoidPtr(implementation.ptr());
    std::int64_t bytes = 0, offset = 0;
    auto* const tensor_of_torch = static_cast<void*>(&pointer);
    if (!pointer || torch_shim().storage_bytes(tensor_of_torch, &bytes) ||
        torch_shim().storage_offset(tensor_of_torch, &offset)) {
      return false;
    }
    memory.bytes = static_cast<std::uint64_t>(bytes) - static_cast<std::uint64_t>(offset) * item;
    memory.address = reinterpret_cast<std::uint64_t>(tensor.data) + tensor.byte_offset;
    if (memory.elements == 0 || memory.bytes < memory.elements * item) return false;
    const nb::object is_negative =
        nb::steal(PyObject_CallFunctionObjArgs(type.is_negative.ptr(), value.ptr(), nullptr));
    if (!is_negative.is_valid()) nb::raise_python_error();
    return is_negative.is(Py_False);
  }

  // An int, or a tuple or list of up to three.
  static bool read(nb::handle value, Extents& extents) {
    const auto add = [&](PyObject* each) {
      if (!each || !PyLong_CheckExact(each)) return false;
      int overflow = 0;
      const std::int64_t extent = PyLong_AsLongLongAndOverflow(each, &overflow);
      if (overflow != 0 || extent <= 0 || extent > UINT32_MAX) return false;
      extents.extent[extents.count++] = static_cast<std::uint32_t>(extent);
      return true;
    };
    if (PyLong_CheckExact(value.ptr())) return add(value.ptr());
    const bool is_list = PyList_CheckExact(value.ptr());
    if (!is_list && !PyTuple_CheckExact(value.ptr())) return false;
    const Py_ssize_t size = is_list ? PyList_Size(value.ptr()) : PyTuple_Size(value.ptr());
    if (size < 1 || size > 3) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!add(is_list ? PyList_GetItem(value.ptr(), i) : PyTuple_GetItem(value.ptr(), i))) return false;
    }
    return true;
  }

  Stream* current_stream(const ExchangeApi& api) {
    void* handle = nullptr;
    if (api.current_stream(kind_, number_, &handle) != 0) {
      PyErr_Clear();
      return nullptr;
    }
    if (!stream_ || handle != handle_) {
      stream_object_ = stream_at_(reinterpret_cast<std::uintptr_t>(handle));
      stream_ = nb::cast<Stream*>(stream_object_);
      handle_ = handle;
    }
    return stream_;
  }

  const Kernel kernel_;
  const int kind_, number_;
  const nb::object stream_at_;  // the stream over a handle
  std::vector<Known> known_;    // by argument
  std::vector<TensorType> types_;
  nb::object stream_object_;
  Stream* stream_ = nullptr;
  void* handle_ = nullptr;
};

}  // namespace

void bind_quick_calls(nb::module_& module) {
  nb::class_<QuickCalls>(module, "QuickCalls")
      .def(nb::init<const Kernel&, int, int, nb::object>(), "kernel"_a, "kind"_a, "number"_a, "stream_at"_a)
      .def("learn", &QuickCalls::learn, "index"_a, "value"_a.none())
      .def("__call__", &QuickCalls::call, "args"_a, "threads"_a.none(), "group"_a.none());
}
