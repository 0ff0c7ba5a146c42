// lstm: PyTorch's own is composed of operators for each step. What the kernels of whole sequences take goes to them, as
// it does on a Mac (_lstm_mps); the rest stays PyTorch's.
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_lstm_mps.h>
#include <ATen/ops/lstm_mps_backward.h>
#include <ATen/ops/lstm_native.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/library.h>

#include <optional>
#include <tuple>
#include <vector>

namespace metalloid::torch_device {

namespace {

using at::Tensor;
using at::TensorList;

// What the kernels take. Wrong arguments are among the rest, so that errors are PyTorch's.
bool takes(const Tensor& input, TensorList hx, TensorList params, bool has_biases, std::int64_t layers, double dropout,
           bool train, bool bidirectional) {
  const std::int64_t directions = bidirectional ? 2 : 1, each = has_biases ? 4 : 2;
  const at::ScalarType type = input.scalar_type();
  if (!input.is_mps() || input.dim() != 3 || input.numel() == 0 || hx.size() != 2 || layers < 1) return false;
  if (type != at::kFloat && type != at::kHalf && type != at::kBFloat16) return false;
  if (train && dropout > 0 && layers > 1) return false;
  if (static_cast<std::int64_t>(params.size()) != layers * directions * each) return false;
  if (params[1].dim() != 2 || hx[0].dim() != 3 || params[1].numel() == 0) return false;
  const std::int64_t width = params[1].size(1);
  // Kernels count elements of one step in 32 bits.
  constexpr std::int64_t most = std::int64_t{1} << 28;
  if (input.size(0) * input.size(1) > most / width || width > 1 << 13) return false;
  const auto is_plain = [&](const Tensor& one) {
    // Not one that a transformation or a mode of Python's wraps.
    constexpr c10::DispatchKeySet wrapped({c10::DispatchKey::Python, c10::DispatchKey::FuncTorchBatched,
                                           c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Functionalize,
                                           c10::DispatchKey::ZeroTensor, c10::DispatchKey::Conjugate});
    return one.is_mps() && one.scalar_type() == type && one.layout() == at::kStrided &&
           !one.key_set().has_any(wrapped) && !one._fw_grad(0).defined();
  };
  if (!is_plain(input)) return false;
  for (const Tensor& state : hx) {
    if (!is_plain(state) || state.sizes() != hx[0].sizes()) return false;
  }
  if (hx[0].size(0) != layers * directions || hx[0].size(2) != width) return false;
  for (std::int64_t i = 0; i < layers * directions; ++i) {
    const std::int64_t size = i < directions ? input.size(2) : directions * width;
    for (std::int64_t k = 0; k < each; ++k) {
      const Tensor& one = params[i * each + k];
      if (!is_plain(one)) return false;
      if (k < 2 ? one.sizes() != at::IntArrayRef({4 * width, k == 0 ? size : width})
                : one.sizes() != at::IntArrayRef(4 * width)) {
        return false;
      }
    }
  }
  return true;
}

bool is_transformed() {
  const auto included = c10::impl::tls_local_dispatch_key_set().included_;
  return included.has(c10::DispatchKey::Python) || included.has(c10::DispatchKey::PythonTLSSnapshot) ||
         included.has(c10::DispatchKey::PythonDispatcher) ||
         included.has(c10::DispatchKey::FuncTorchDynamicLayerFrontMode) ||
         included.has(c10::DispatchKey::Functionalize) || at::autocast::is_autocast_enabled(at::kMPS);
}

using Results = std::tuple<Tensor, Tensor, Tensor>;

Results lstm_of(const Tensor& input, TensorList hx, TensorList params, bool has_biases, std::int64_t layers,
                double dropout, bool train, bool bidirectional, bool batch_first) {
  const bool fits = !is_transformed() && takes(input, hx, params, has_biases, layers, dropout, train, bidirectional) &&
                    hx[0].size(1) == input.size(batch_first ? 0 : 1);
  if (!fits) {
    return at::native::lstm(input, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first);
  }
  auto [output, hidden, cell, gates, cells, states] =
      at::_lstm_mps(input, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first);
  return {output, hidden, cell};
}

using Gradients = std::tuple<Tensor, std::vector<Tensor>, std::vector<Tensor>>;

// Derivatives of derivatives: those of the operators that PyTorch's own LSTM is made of.
Gradients lstm_backward(const std::optional<Tensor>& grad_output, const std::optional<Tensor>& grad_hidden,
                        const std::optional<Tensor>& grad_cell, const Tensor& gates, const Tensor& cells,
                        const Tensor& input, const Tensor& states, TensorList hx, TensorList params, bool has_biases,
                        std::int64_t layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  if (!at::GradMode::is_enabled()) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    return at::lstm_mps_backward(grad_output, grad_hidden, grad_cell, gates, cells, input, states, hx, params,
                                 has_biases, layers, dropout, train, bidirectional, batch_first);
  }
  const auto alias = [](const Tensor& one) {
    return one.requires_grad() ? one.view_as(one) : one.detach().requires_grad_();
  };
  std::vector<Tensor> wanted = {alias(input)};
  for (const Tensor& one : hx) wanted.push_back(alias(one));
  for (const Tensor& one : params) wanted.push_back(alias(one));
  const TensorList all(wanted);
  const auto [output, hidden, cell] = at::native::lstm(all[0], all.slice(1, 2), all.slice(3), has_biases, layers,
                                                       dropout, train, bidirectional, batch_first);
  std::vector<Tensor> outputs, gradients;
  const auto add = [&](const Tensor& one, const std::optional<Tensor>& gradient) {
    if (!gradient || !gradient->defined()) return;
    outputs.push_back(one);
    gradients.push_back(*gradient);
  };
  add(output, grad_output);
  add(hidden, grad_hidden);
  add(cell, grad_cell);
  std::vector<Tensor> found =
      torch::autograd::grad(outputs, wanted, gradients, /*retain_graph=*/true, /*create_graph=*/true,
                            /*allow_unused=*/true);
  return {found[0], {found.begin() + 1, found.begin() + 3}, {found.begin() + 3, found.end()}};
}

TORCH_LIBRARY_IMPL(aten, AutogradMPS, library) {
  library.impl("lstm.input", lstm_of);
  library.impl("lstm_mps_backward", lstm_backward);
}
TORCH_LIBRARY_IMPL(aten, MPS, library) { library.impl("lstm.input", lstm_of); }

}  // namespace

}  // namespace metalloid::torch_device
