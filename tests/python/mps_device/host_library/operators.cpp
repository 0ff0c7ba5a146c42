// Calls what MetalShaderLibrary offers C++ code, so that tests reach it from Python.
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <torch/library.h>

#include <array>
#include <map>
#include <memory>
#include <string>

namespace {

using at::Tensor;
using at::native::mps::MetalShaderLibrary;

// By source; compiled when a kernel is first asked for.
MetalShaderLibrary& library(const std::string& source) {
  static std::map<std::string, std::unique_ptr<MetalShaderLibrary>> libraries;
  auto& found = libraries[source];
  if (!found) found = std::make_unique<MetalShaderLibrary>(source);
  return *found;
}

void unary(const std::string& source, const std::string& name, const Tensor& out, const Tensor& input,
           std::optional<at::Scalar> alpha, std::optional<at::ScalarType> type, std::optional<int64_t> threshold) {
  auto iter = at::TensorIteratorConfig().add_output(out).add_const_input(input).check_all_same_dtype(false).build();
  library(source).exec_unary_kernel(iter, name, alpha, type,
                                    threshold ? std::optional<uint32_t>(*threshold) : std::nullopt);
}

void binary(const std::string& source, const std::string& name, const Tensor& out, const Tensor& input,
            const Tensor& other, std::optional<at::Scalar> alpha, std::optional<at::ScalarType> natural,
            std::optional<int64_t> threshold) {
  auto iter = at::TensorIteratorConfig()
                  .add_output(out)
                  .add_const_input(input)
                  .add_const_input(other)
                  .allow_cpu_scalars(true)
                  .promote_inputs_to_common_dtype(true)
                  .check_all_same_dtype(false)
                  .build();
  library(source).exec_binary_kernel(iter, name, alpha, {}, natural,
                                     threshold ? std::optional<uint32_t>(*threshold) : std::nullopt);
}

void ternary(const std::string& source, const std::string& name, const Tensor& out, const Tensor& a, const Tensor& b,
             const Tensor& c, std::optional<at::Scalar> alpha) {
  auto iter = at::TensorIteratorConfig()
                  .add_output(out)
                  .add_const_input(a)
                  .add_const_input(b)
                  .add_const_input(c)
                  .allow_cpu_scalars(true)
                  .promote_inputs_to_common_dtype(true)
                  .check_all_same_dtype(false)
                  .build();
  library(source).exec_ternary_kernel(iter, name, alpha);
}

// scale_add(out, x, n, factor, shift[2], errors)
void run(const std::string& source, const std::string& name, const Tensor& out, const Tensor& x, double factor,
         at::IntArrayRef threads, at::IntArrayRef group) {
  auto kernel = library(source).getKernelFunction(name);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    kernel->setArg(0, out);
    kernel->setArg(1, x);
    kernel->setArg(2, static_cast<int64_t>(x.numel()));
    kernel->setArg(3, static_cast<float>(factor));
    kernel->setArg(4, std::array<float, 2>{1, 2});
    kernel->setErrorBufferIndex(5);
    const std::vector<uint64_t> grid(threads.begin(), threads.end()), size(group.begin(), group.end());
    if (grid.size() == 1 && size.empty()) return kernel->dispatch(grid[0]);
    kernel->dispatch(grid, size.empty() ? c10::OptionalArrayRef<uint64_t>() : c10::OptionalArrayRef<uint64_t>(size));
  });
}

// One line of a library with parameters: `{}` is the type.
void run_with_type(const std::string& source, const std::string& type, const Tensor& out) {
  static std::map<std::string, std::unique_ptr<MetalShaderLibrary>> libraries;
  auto& found = libraries[source];
  if (!found) found = std::make_unique<MetalShaderLibrary>(source, 1);
  at::native::mps::MetalKernelFunction kernel(found->getPipelineStateForFunc("fill", {type}),
                                              found->getMTLFunction("fill", {type}));
  kernel.runCommandBlock([&] {
    kernel.startEncoding();
    kernel.setArg(0, out);
    kernel.dispatch(out.numel());
  });
}

std::vector<std::string> names(const std::string& source) { return library(source).getFunctionNames(); }

void synchronize() { at::mps::getCurrentMPSStream()->synchronize(at::mps::SyncType::COMMIT_AND_WAIT); }

void raw(const std::string& source, const std::string& name, const Tensor& out, const Tensor& input) {
  library(source).exec_unary_kernel_raw(
      name, input.storage().mutable_data(), input.storage_offset() * input.element_size(), input.scalar_type(),
      out.storage().mutable_data(), out.storage_offset() * out.element_size(), out.scalar_type(), input.numel());
}

}  // namespace

TORCH_LIBRARY(metalloid_host_test, m) {
  m.def(
      "unary(str source, str name, Tensor(a!) out, Tensor x, Scalar? alpha=None, ScalarType? type=None, "
      "int? threshold=None) -> ()",
      unary);
  m.def(
      "binary(str source, str name, Tensor(a!) out, Tensor x, Tensor y, Scalar? alpha=None, "
      "ScalarType? natural=None, int? threshold=None) -> ()",
      binary);
  m.def("ternary(str source, str name, Tensor(a!) out, Tensor x, Tensor y, Tensor z, Scalar? alpha=None) -> ()",
        ternary);
  m.def("run(str source, str name, Tensor(a!) out, Tensor x, float factor, int[] threads, int[] group) -> ()", run);
  m.def("run_with_type(str source, str type, Tensor(a!) out) -> ()", run_with_type);
  m.def("names(str source) -> str[]", names);
  m.def("synchronize() -> ()", synchronize);
  m.def("raw(str source, str name, Tensor(a!) out, Tensor x) -> ()", raw);
}
