// The Python module of the device: what Metalloid's runner asks it. torch's own bindings ask the hooks.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "fallback.h"
#include "hooks.h"
#include "interposition.h"
#include "streams.h"

namespace py = pybind11;
using namespace metalloid::torch_device;

PYBIND11_MODULE(metalloid_torch, module) {
  interpose();
  module.def("set_macos_version", &set_macos_version);
  module.def("current_stream", &current_stream);
  module.def("set_current_stream", &set_current_stream);
  module.def("fallbacks", [] {
    py::dict counts;
    for (const auto& [name, calls] : fallbacks()) counts[py::str(name)] = calls;
    return counts;
  });
  module.def("reset_fallbacks", &reset_fallbacks);
  module.def("set_operators_of_pytorch", &set_operators_of_pytorch);
}
