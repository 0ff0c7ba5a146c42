// What kernels print with os_log goes to Python's logging (metalloid/_diagnostics/os_log.py).
#include "metalloid/log.h"

#include <nanobind/nanobind.h>

#include <string>

#include "bindings.h"

namespace nb = nanobind;
using namespace metalloid;

namespace {

// Kernels' texts may be in any encoding.
nb::object text(const std::string& bytes) {
  return nb::bytes(bytes.data(), bytes.size()).attr("decode")("utf-8", "replace");
}

void hand_to_python(const LogMessage& message) {
  if (!Py_IsInitialized()) return;
  const nb::gil_scoped_acquire held;
  // A handler of the program that raises is told of and does not end the kernel's call.
  try {
    const Size& at = message.thread_position_in_grid;
    nb::module_::import_("metalloid._diagnostics.os_log")
        .attr("handle")(name_of(message.level), text(message.text), text(message.description()),
                        text(message.subsystem), text(message.category), text(message.kernel),
                        nb::make_tuple(at.x, at.y, at.z), text(message.file), message.line, message.lost);
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
  }
}

}  // namespace

void bind_log(nb::module_& module) {
  set_log_handler(hand_to_python);
  module.def("use_standard_error_for_logs", [] { set_log_handler({}); });
}
