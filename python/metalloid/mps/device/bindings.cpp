// The Python module of the device: what torch._C has for MPS on a Mac (_mps_…), and what Metalloid's runner asks.
#include <ATen/mps/MPSGeneratorImpl.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>

#include "fallback.h"
#include "hooks.h"
#include "interposition.h"
#include "memory.h"
#include "streams.h"

namespace py = pybind11;
using namespace metalloid::torch_device;

PYBIND11_MODULE(metalloid_torch, module) {
  interpose();
  module.def("default_generator", [] {
    return py::reinterpret_steal<py::object>(THPGenerator_initDefaultGenerator(at::mps::detail::getDefaultMPSGenerator()));
  });
  module.def("synchronize", [] {
    try {
      synchronize();
    } catch (const c10::Error&) {
      torch::translate_exception_to_python(std::current_exception());
      throw py::error_already_set();
    }
  });
  module.def("set_macos_version", &set_macos_version);
  module.def("is_on_macos_or_newer", [](unsigned major, unsigned minor) { return hooks().isOnMacOSorNewer(major, minor); });
  module.def("allocated_memory", [] { return memory_use().now; });
  module.def("recommended_max_memory", [] { return hooks().getRecommendedMaxMemory(); });
  module.def("acquire_event", [](bool timing) { return hooks().acquireEvent(timing); });
  module.def("release_event", [](std::uint32_t id) { hooks().releaseEvent(id); });
  module.def("record_event", [](std::uint32_t id) { hooks().recordEvent(id); });
  module.def("elapsed_time", [](std::uint32_t from, std::uint32_t to) { return hooks().elapsedTimeOfEvents(from, to); });
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
