// Every operator without a kernel for MPS runs the CPU's on the same memory: its tensors become views of the host's
// (host_view.h), what comes out becomes the device's again. Nothing is copied.
#include "fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/mps/MPSGeneratorImpl.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "host_view.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

bool is_set(const char* variable, bool otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : std::string_view(value) != "0";
}

struct Operator {
  bool takes_generator = false;
  bool reads_elements = false;  // its result, or the result's shape, is told to the host
  bool takes_indices = false;   // which may be on the CPU
  bool copies = false;          // also between devices
  std::uint64_t calls = 0;
};

// Never destroyed: operators run until the very end of the process.
std::mutex& mutex = *new std::mutex;
auto& operators = *new std::unordered_map<const void*, std::pair<std::string, Operator>>;
auto& operators_of_pytorch = *new std::unordered_set<std::string>;

const std::unordered_set<std::string> with_indices = {
    "aten::index",
    "aten::_unsafe_index",
    "aten::index_put",
    "aten::index_put_",
    "aten::_index_put_impl_",
    "aten::index_put",
    "aten::_unsafe_index_put",
    "aten::index_copy_",
    "aten::_unsafe_masked_index",
};
const std::unordered_set<std::string> reading = {
    "aten::equal",        "aten::is_nonzero",         "aten::_assert_async", "aten::_linalg_check_errors",
    "aten::linalg_lstsq", "aten::linalg_matrix_rank", "aten::_coalesce",     "aten::_to_sparse",
};
const std::unordered_set<std::string> copying = {"aten::copy_", "aten::copy_sparse_to_sparse_"};
// Namespaces that bring kernels for MPS on a Mac.
const std::unordered_set<std::string> with_kernels_for_mps = {"aten", "torchvision", "quantized", "prims", "prim"};

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "The operator '", name, "' is not currently implemented for the MPS device",
                              reason);
}

// Of kernels that serve every device.
bool is_composite(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

// What is to be known of an operator; checks whether it may fall back.
Operator examine(const c10::OperatorHandle& op, const std::string& name) {
  static const bool is_allowed = is_set("METALLOID_MPS_FALLBACK", true);
  static const bool is_allowed_by_pytorch = is_set("PYTORCH_ENABLE_MPS_FALLBACK", false);
  const auto& base = op.operator_name().name;
  const auto colons = base.find("::");
  const bool is_torchs = with_kernels_for_mps.contains(base.substr(0, colons));
  if (!is_allowed) {
    refuse(name, ": Metalloid has no Metal kernel for it, and METALLOID_MPS_FALLBACK=0 forbids to run the CPU's.");
  }
  if (!is_torchs && !is_allowed_by_pytorch) {
    refuse(name,
           ". As a temporary fix, you can set the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the "
           "CPU as a fallback for this op. WARNING: this will be slower than running natively on MPS.");
  }
  if (!op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU) &&
      !op.hasComputedKernelForDispatchKey(c10::DispatchKey::SparseCPU)) {
    refuse(name, ", nor for the CPU.");
  }
  if (!operators_of_pytorch.empty() && !operators_of_pytorch.contains(name)) {
    TORCH_WARN("The operator '", name,
               "' is not currently supported on the MPS backend and will fall back to run on the "
               "CPU. This may have performance implications.");
  }
  Operator examined;
  for (const auto& argument : op.schema().arguments()) {
    const auto& type = argument.real_type();
    examined.takes_generator |= type->isSubtypeOf(*c10::OptionalType::create(c10::GeneratorType::get()));
  }
  examined.takes_indices = with_indices.contains(base);
  examined.copies = copying.contains(base);
  examined.reads_elements = reading.contains(base);
  for (const auto tag : op.getTags()) {
    examined.reads_elements |= tag == at::Tag::data_dependent_output || tag == at::Tag::dynamic_output_shape;
  }
  return examined;
}

Operator known(const c10::OperatorHandle& op) {
  const void* key = &op.operator_name();
  {
    std::lock_guard lock(mutex);
    auto found = operators.find(key);
    if (found != operators.end()) {
      ++found->second.second.calls;
      return found->second.second;
    }
  }
  const auto name = c10::toString(op.operator_name());
  auto examined = examine(op, name);
  examined.calls = 1;
  std::lock_guard lock(mutex);
  operators.insert_or_assign(key, std::pair(name, examined));
  return examined;
}

// A generator of the CPU in the place of MPS's: its seed follows from the state of MPS's, which moves on.
at::Generator generator_of_cpu(const c10::IValue& given) {
  at::Generator generator = given.isNone() ? at::mps::detail::getDefaultMPSGenerator() : given.toGenerator();
  if (generator.device().type() != c10::DeviceType::MPS) {
    TORCH_CHECK(false, "Expected a 'mps' device type for generator but found '", generator.device().type(), "'");
  }
  std::lock_guard lock(generator.mutex());
  auto* mps = at::check_generator<at::MPSGeneratorImpl>(generator);
  at::Philox4_32 numbers(mps->current_seed(), /*subsequence=*/0, mps->get_offset());
  const std::uint64_t seed = numbers() | std::uint64_t{numbers()} << 32;
  mps->set_offset(mps->get_offset() + 1);
  return at::detail::createCPUGenerator(seed);
}

void check_devices(const at::Tensor& tensor, const Operator& op, bool& has_host_tensor) {
  if (!tensor.defined() || tensor.is_mps() || tensor.dim() == 0 || op.takes_indices || op.copies) return;
  if (!tensor.is_cpu()) {
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, mps:0 and ",
                tensor.device(), "!");
  }
  has_host_tensor = true;
}

template <c10::DispatchKey key>
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Operator about = known(op);
  if constexpr (key != c10::DispatchKey::CPU) {
    if (!op.hasComputedKernelForDispatchKey(key)) {
      refuse(c10::toString(op.operator_name()), " with sparse tensors, nor for the CPU.");
    }
  }
  if (about.reads_elements) synchronize();
  const auto& schema = op.schema();
  const auto count = schema.arguments().size();
  const auto first = stack->size() - count;
  HostViews views;
  bool has_host_tensor = false;

  for (std::size_t i = 0; i < count; ++i) {
    auto& value = (*stack)[first + i];
    if (value.isTensor()) {
      const auto& tensor = value.toTensor();
      check_devices(tensor, about, has_host_tensor);
      if (about.takes_indices && i == 0 && !tensor.is_mps()) {
        TORCH_CHECK(false, "indices should be either on cpu or on the same device as the indexed tensor (",
                    tensor.device(), ")");
      }
      value = views.of(tensor);
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      list.reserve(value.toListRef().size());
      for (const at::Tensor& tensor : value.toTensorVector()) {
        check_devices(tensor, about, has_host_tensor);
        list.push_back(views.of(tensor));
      }
      value = std::move(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        if (tensor) check_devices(*tensor, about, has_host_tensor);
        list.push_back(tensor ? std::optional(views.of(*tensor)) : std::nullopt);
      }
      value = std::move(list);
    } else if (value.isDevice() && value.toDevice().is_mps()) {
      value = c10::Device(c10::DeviceType::CPU);
    } else if (about.takes_generator && (value.isGenerator() || value.isNone())) {
      const auto& type = schema.arguments()[i].real_type();
      if (type->isSubtypeOf(*c10::OptionalType::create(c10::GeneratorType::get()))) value = generator_of_cpu(value);
    }
  }
  TORCH_CHECK(!has_host_tensor || views.empty(),
              "Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!");

  op.redispatchBoxed(c10::DispatchKeySet(key), stack);

  views.write_back();
  const auto results = schema.returns().size();
  for (auto value = stack->end() - static_cast<std::ptrdiff_t>(results); value != stack->end(); ++value) {
    if (value->isTensor()) {
      *value = views.back(value->toTensor());
    } else if (value->isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value->toTensorVector()) list.push_back(views.back(tensor));
      *value = std::move(list);
    }
  }
}

void refuse_quantized(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse(c10::toString(op.operator_name()), " with quantized tensors: PyTorch has none on it.");
}

template <c10::DispatchKey key>
torch::CppFunction on_cpu() {
  return torch::CppFunction::makeFromBoxedFunction<&run_on_cpu<key>>();
}

TORCH_LIBRARY_IMPL(_, MPS, library) { library.fallback(on_cpu<c10::DispatchKey::CPU>()); }
TORCH_LIBRARY_IMPL(_, SparseMPS, library) { library.fallback(on_cpu<c10::DispatchKey::SparseCPU>()); }
TORCH_LIBRARY_IMPL(_, QuantizedMPS, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_quantized>());
}

// A composite kernel goes before the fallback, but not before the CPU's own for sparse tensors.
TORCH_LIBRARY_IMPL(aten, SparseMPS, library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const auto op = dispatcher.findOp(name);
    if (op && op->hasKernelForDispatchKey(c10::DispatchKey::SparseCPU) && is_composite(*op)) {
      library.impl(c10::toString(name).c_str(), on_cpu<c10::DispatchKey::SparseCPU>());
    }
  }
}

}  // namespace

std::vector<FallbackCount> fallbacks() {
  std::lock_guard lock(mutex);
  std::vector<FallbackCount> counts;
  for (const auto& [key, op] : operators) {
    if (op.second.calls > 0) counts.push_back({op.first, op.second.calls});
  }
  return counts;
}

void reset_fallbacks() {
  std::lock_guard lock(mutex);
  for (auto& [key, op] : operators) op.second.calls = 0;
}

void set_operators_of_pytorch(std::unordered_set<std::string> names) {
  std::lock_guard lock(mutex);
  operators_of_pytorch = std::move(names);
}

}  // namespace metalloid::torch_device
