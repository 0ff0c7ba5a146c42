// metalloid._core: the C++ library for Python. Only what must be C++; the call model is in metalloid/*.py.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments.h"
#include "bindings.h"
#include "gil.h"
#include "interrupts.h"
#include "metalloid/library_outline.h"
#include "metalloid/metalloid.h"
#include "metalloid/packed_library.h"
#include "metalloid/reported_errors.h"
#include "stdlib/headers.h"
#include "support/library_path.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

MathMode parse_math_mode(const std::string& name) {
  if (name == "safe") return MathMode::safe;
  if (name == "relaxed") return MathMode::relaxed;
  if (name == "fast") return MathMode::fast;
  throw nb::value_error(("math_mode must be 'safe', 'relaxed' or 'fast', not '" + name + "'").c_str());
}

Library compile(const std::string& source, const std::string& device, std::pair<int, int> language,
                const std::string& math_mode, std::vector<std::pair<std::string, std::string>> definitions,
                const std::vector<std::filesystem::path>& include_directories,
                std::map<std::string, std::string> headers, const std::string& source_name,
                const std::filesystem::path& source_file) {
  CompileOptions options;
  options.source_name = source_name;
  options.source_file = source_file;
  options.language = {static_cast<std::uint8_t>(language.first), static_cast<std::uint8_t>(language.second)};
  options.math_mode = parse_math_mode(math_mode);
  options.definitions = std::move(definitions);
  options.include_directories = include_directories;
  options.headers = std::move(headers);
  const metalloid_python::InterruptScope interruptible;
  const metalloid_python::GilRelease released;
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
  const metalloid_python::InterruptScope interruptible;
  const metalloid_python::GilRelease released;
  return library.kernel(name, constants);
}

// Kernels that have not been compiled yet may still have errors.
void compile_all_kernels(const Library& library) {
  const metalloid_python::InterruptScope interruptible;
  const metalloid_python::GilRelease released;
  library.info();
}

void run_kernel(const Kernel& kernel, const Bindings& bindings, const Extents& threads, const Extents& group,
                const std::map<std::uint32_t, std::size_t>& threadgroup_memory, std::optional<double> timeout,
                bool on_stream) {
  Dispatch dispatch = make_dispatch(kernel, bindings, threadgroup_memory, timeout);
  dispatch.threads(size_from(threads), size_from(group));
  const metalloid_python::InterruptScope interruptible;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // one that came just before
  const metalloid_python::GilRelease released;
  if (!on_stream) return run(kernel, dispatch);
  Stream& stream = Stream::current();
  stream.dispatch(kernel, dispatch);
  // Nobody but the caller keeps arrays.
  const auto is_array = [](const auto& each) { return std::holds_alternative<const HostArray*>(each.second); };
  if (std::ranges::any_of(bindings, is_array)) stream.synchronize();
}

// Memory in the bindings is the stream's device's, arrays are the host's.
void run_kernel_on(const Kernel& kernel, Stream& stream, const Bindings& bindings, const Extents& threads,
                   const Extents& group, const std::map<std::uint32_t, std::size_t>& threadgroup_memory,
                   std::optional<double> timeout) {
  Dispatch dispatch = make_dispatch(kernel, bindings, threadgroup_memory, timeout, stream.device());
  dispatch.threads(size_from(threads), size_from(group));
  const metalloid_python::GilRelease released;
  stream.dispatch(kernel, dispatch);
}

void wait_for_stream(Stream& stream) {
  const metalloid_python::InterruptScope interruptible;
  const metalloid_python::GilRelease released;
  stream.synchronize();
}

// Of an argument buffer of addresses, as many as go by value: what each leads to, "" where that is not known.
nb::list describe_pointees(const TypeInfo& type) {
  nb::list result;
  bool is_one = false;
  for (std::uint64_t offset = 0; offset + 8 <= std::min<std::uint64_t>(type.size, max_inline_bytes); offset += 8) {
    const ElementType kind = pointee_at(type, offset);
    is_one = is_one || kind != ElementType::none;
    result.append(kind == ElementType::none ? std::string() : std::string(name_of(kind)));
  }
  return is_one ? result : nb::list();
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
        argument.type.scalar == ElementType::none ? std::string() : std::string(name_of(argument.type.scalar));
    entry["item_bytes"] = size_of(argument.type.scalar);
    entry["bytes"] = argument.type.size;
    entry["rows"] = argument.type.rows;
    entry["writable"] = argument.access == Access::read_write;
    entry["active"] = argument.is_active;
    entry["pointees"] = describe_pointees(argument.type);
    result.append(entry);
  }
  return result;
}

nb::list describe_function_constants(const Library& library) {
  nb::list result;
  for (const FunctionConstantInfo& constant : function_constants_of(library)) {
    nb::dict entry;
    entry["name"] = constant.name;
    entry["index"] = constant.index;
    entry["type"] = constant.type.name;
    entry["scalar"] = std::string(name_of(constant.type.scalar));
    entry["rows"] = constant.type.rows;
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
      // The Ctrl-C that stopped the kernel is what the user is told of.
      if (error.code() == ErrorCode::kernel_interrupted && PyErr_CheckSignals() != 0) return;
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
      .def_prop_ro("engine", &Kernel::engine)
      .def_prop_ro("remarks",
                   [](const Kernel& kernel) {
                     std::vector<std::tuple<std::string, std::string, std::string, unsigned>> result;
                     for (const Remark& remark : kernel.remarks()) {
                       result.emplace_back(remark.engine, remark.reason, remark.source_file, remark.source_line);
                     }
                     return result;
                   })
      .def(
          "default_group",
          [](const Kernel& kernel, const Extents& grid, unsigned dimensions) {
            const Size group = kernel.default_threadgroup(size_from(grid), dimensions);
            return std::tuple(group.x, group.y, group.z);
          },
          "grid"_a, "dimensions"_a)
      .def("arguments", &describe_arguments)
      .def("run", &run_kernel, "bindings"_a, "threads"_a, "group"_a, "threadgroup_memory"_a, "timeout"_a.none(),
           "on_stream"_a = false)
      .def("run_on", &run_kernel_on, "stream"_a, "bindings"_a, "threads"_a, "group"_a, "threadgroup_memory"_a,
           "timeout"_a.none());

  // Over one that another library made, by its handle.
  nb::class_<Stream>(module, "Stream")
      .def(
          "__init__",
          [](Stream* self, const std::string& device, std::uintptr_t native) {
            new (self) Stream(Device::named(device), native);
          },
          "device"_a, "native"_a)
      .def("wait_for", &Stream::wait_for_native, "native"_a)
      .def("is_idle", &Stream::is_idle)
      .def("synchronize", &wait_for_stream);

  // Memory of a device, for tests and measurements without another library's arrays.
  nb::class_<Buffer>(module, "DeviceMemory")
      .def(
          "__init__",
          [](Buffer* self, const std::string& device, std::size_t bytes) {
            new (self) Buffer(Device::named(device), bytes);
          },
          "device"_a, "bytes"_a)
      .def_prop_ro("address", &Buffer::gpu_address)
      .def_prop_ro("bytes", &Buffer::size)
      .def("write",
           [](const Buffer& buffer, const nb::bytes& bytes) {
             buffer.write(0, {static_cast<const std::byte*>(bytes.data()), bytes.size()});
           })
      .def("read", [](const Buffer& buffer) {
        std::vector<std::byte> bytes(buffer.size());
        buffer.read(0, bytes);
        return nb::bytes(bytes.data(), bytes.size());
      });

  nb::class_<Library>(module, "Library")
      .def("kernel_names", &Library::kernel_names)
      .def_prop_ro("warnings", &Library::warnings)
      .def("function_constants", &describe_function_constants)
      .def("compile_all_kernels", &compile_all_kernels)
      .def("kernel", &make_kernel, "name"_a, "constants"_a);

  nb::class_<PackedLibrary>(module, "PackedLibrary")
      .def("kernel_names", [](const PackedLibrary& library) { return library.kernel_names(); })
      .def(
          "load",
          [](const PackedLibrary& library, const std::string& device) {
            const metalloid_python::InterruptScope interruptible;
            const metalloid_python::GilRelease released;
            return library.load(Device::named(device));
          },
          "device"_a);
  module.def("unpack", [](const nb::bytes& bytes) { return unpack({bytes.c_str(), bytes.size()}); }, "bytes"_a);
  module.def("compile", &compile, "source"_a, "device"_a, "language"_a, "math_mode"_a, "definitions"_a,
             "include_directories"_a, "headers"_a, "source_name"_a = "program_source", "source_file"_a = "");
  module.def("library_path", &support::library_path);
  module.def("standard_headers", [] {
    std::vector<std::string> result;
    for (const stdlib::Header& header : stdlib::headers()) result.emplace_back(header.name);
    return result;
  });
  // Of each type of elements: our name, array libraries', Metal's, and its bytes.
  module.def("element_types", [] {
    std::vector<std::tuple<std::string, std::string, std::string, unsigned>> result;
    for (const ElementTypeInfo& info : element_types) {
      if (info.size == 0) continue;
      result.emplace_back(info.name, info.library_name, info.metal_name, info.size);
    }
    return result;
  });
  module.def("devices", [] {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Device& device : Device::choices()) result.emplace_back(device.name(), device.description());
    return result;
  });
  module.def(
      "device_of_arrays", [](int kind, int number) { return Device::of_arrays(kind, number).name(); }, "kind"_a,
      "number"_a);
  module.def("engines", [] {
    std::vector<std::string> result;
    for (const Device& device : Device::all()) result.push_back(device.engine());
    return result;
  });
  module.def("start_trace", &start_trace, "file"_a);
  module.def("stop_trace", &stop_trace);
  module.def("trace_file", &trace_file);
  module.def("error_buffer", [] {
    const Buffer& buffer = error_buffer();
    return std::pair(reinterpret_cast<std::uintptr_t>(buffer.contents()), buffer.size());
  });
  module.def("take_reported_error", []() -> std::optional<std::tuple<std::string, std::string, unsigned>> {
    const auto error = take_reported_error();
    if (!error) return std::nullopt;
    return std::tuple(error->message, error->function + " at " + error->file + ":" + std::to_string(error->line),
                      error->count);
  });
  bind_cache(module);
  bind_check(module);
  bind_dlpack(module);
  bind_fast(module);
  bind_log(module);
  bind_quick_calls(module);
  bind_recorder(module);
  bind_tune(module);
}
