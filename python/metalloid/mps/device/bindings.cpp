// The Python module of the device: what Metalloid's runner asks it. torch's own bindings ask the hooks.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/ones.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "fallback.h"
#include "hooks.h"
#include "interposition.h"
#include "streams.h"

namespace py = pybind11;
using namespace metalloid::torch_device;

namespace {

// Autograd's thread for the device wakes the caller of backward() before it lets go of the graph. If that has functions
// of Python in it and the interpreter ends meanwhile, the process aborts. A graph without any, behind it, waits for it.
void finish_backward() {
  if (!autograd_has_threads()) return;
  py::gil_scoped_release others_run;
  at::AutoGradMode enabled(true);
  auto leaf = at::ones({1}, at::TensorOptions(c10::Device(c10::DeviceType::MPS, 0))).set_requires_grad(true);
  leaf.neg().backward();
}

}  // namespace

PYBIND11_MODULE(metalloid_torch, module) {
  interpose();
  module.def("finish_backward", &finish_backward);
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
