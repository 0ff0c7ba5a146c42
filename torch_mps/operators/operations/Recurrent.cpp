// LSTMs of whole sequences: each layer is one product of all its inputs and one kernel for its steps.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_lstm_mps_native.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm_mps_backward_native.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <ATen/native/mps/Recurrent_metallib.h>

#include <vector>

#include "kernels.h"

namespace at::native {
namespace {

// As the kernels' struct.
struct RecurrentShape {
  std::uint32_t steps, batch, width, reverse, keeps_gates;
  std::uint32_t input_step, input_row;
};

struct LstmLayers {
  TensorList hx, params;
  bool has_biases, bidirectional;
  std::int64_t directions() const { return bidirectional ? 2 : 1; }
  // Of a layer's direction, counted together.
  const Tensor* weights(std::int64_t index) const { return &params[index * (has_biases ? 4 : 2)]; }
};

// Sequences that a threadgroup takes: more of them read weights less often, and fewer leave work for more cores.
std::uint64_t sequences_per_group(std::int64_t batch) { return batch >= 8 ? 4 : batch >= 4 ? 2 : 1; }

std::uint64_t recurrent_threads(std::int64_t width) { return std::min<std::uint64_t>((width + 31) / 32 * 32, 1024); }

std::string recurrent_kernel(const char* name, ScalarType type) {
  return std::string(name) + "_" + metalloid::operators::metal_type(type, name);
}

// `hidden` and `cells` (steps + 1, batch, width) have the state at the beginning in their first slot, or the last one;
// `gates` is undefined where nobody wants them. Inputs (steps, batch, size).
void run_lstm_forward(const Tensor& inputs, const Tensor* weights, bool has_biases, bool reverse, const Tensor& hidden,
                      const Tensor& cells, const Tensor& gates) {
  const std::int64_t steps = inputs.size(0), batch = inputs.size(1), width = hidden.size(2);
  // In the order that inputs lie in.
  const bool is_batch_first = !inputs.is_contiguous() && inputs.transpose(0, 1).is_contiguous();
  const Tensor as_it_lies = is_batch_first ? inputs.transpose(0, 1) : inputs;
  std::optional<Tensor> bias;
  if (has_biases) bias = weights[2] + weights[3];
  const Tensor products = at::linear(as_it_lies, weights[0], bias);
  RecurrentShape shape{};
  shape.steps = static_cast<std::uint32_t>(steps);
  shape.batch = static_cast<std::uint32_t>(batch);
  shape.width = static_cast<std::uint32_t>(width);
  shape.reverse = reverse;
  shape.keeps_gates = gates.defined();
  shape.input_step = static_cast<std::uint32_t>(products.stride(is_batch_first ? 1 : 0));
  shape.input_row = static_cast<std::uint32_t>(products.stride(is_batch_first ? 0 : 1));
  const std::uint64_t blocks = (width + 31) / 32;
  const Tensor weight = weights[1].contiguous();
  const Tensor packed = at::empty({static_cast<std::int64_t>(blocks), 2, width, 2, 32}, weight.options());
  metalloid::operators::run(lib, recurrent_kernel("recurrent_pack", weight.scalar_type()), {blocks * 32, blocks * 8, 4},
                            {32, 8, 1}, packed, weight, shape);
  const std::uint64_t rows = sequences_per_group(batch), threads = recurrent_threads(width);
  metalloid::operators::run(lib, recurrent_kernel("lstm_forward", weight.scalar_type()) + "_" + std::to_string(rows),
                            {(batch + rows - 1) / rows * threads, 1, 1}, {threads, 1, 1}, hidden, cells,
                            gates.defined() ? gates : cells, products, packed, shape);
}

}  // namespace

// Behind the three results: gates (layers * directions, steps, batch, 4, width) behind their functions, cells and
// states of all slots (layers * directions, steps + 1, batch, width). Gates and cells are in float. Without derivatives
// to come these three have no elements.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _lstm_mps(const Tensor& input, TensorList hx,
                                                                     TensorList params, bool has_biases,
                                                                     int64_t num_layers, double dropout, bool train,
                                                                     bool bidirectional, bool batch_first) {
  TORCH_CHECK(input.dim() == 3 && input.numel() != 0 && hx.size() == 2 && params.size() >= 2 && params[1].dim() == 2,
              "_lstm_mps: expected an input of three dimensions, two states and the weights of each layer");
  TORCH_CHECK_NOT_IMPLEMENTED(!train || dropout == 0 || num_layers == 1, "_lstm_mps: no dropout between layers");
  const LstmLayers all{hx, params, has_biases, bidirectional};
  const std::int64_t directions = all.directions(), count = num_layers * directions;
  TORCH_CHECK(static_cast<std::int64_t>(params.size()) == count * (has_biases ? 4 : 2), "_lstm_mps: ", params.size(),
              " weights and biases for ", count, " layers and directions");
  bool derives = input.requires_grad();
  for (const Tensor& one : hx) derives |= one.requires_grad();
  for (const Tensor& one : params) derives |= one.requires_grad();
  const bool keeps = derives && GradMode::is_enabled();

  Tensor x = batch_first ? input.transpose(0, 1) : input;
  const std::int64_t steps = x.size(0), batch = x.size(1), width = params[1].size(1);
  const auto in_float = input.options().dtype(kFloat);
  Tensor states, cells, gates;
  if (keeps) {
    states = at::empty({count, steps + 1, batch, width}, input.options());
    cells = at::empty({count, steps + 1, batch, width}, in_float);
    gates = at::empty({count, steps, batch, 4, width}, in_float);
  }
  std::vector<Tensor> last_hidden, last_cell;
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t i = layer * directions + direction;
      const bool reverse = direction == 1;
      const Tensor state = keeps ? states[i] : at::empty({steps + 1, batch, width}, input.options());
      const Tensor cell = keeps ? cells[i] : at::empty({steps + 1, batch, width}, in_float);
      state[reverse ? steps : 0].copy_(hx[0][i]);
      cell[reverse ? steps : 0].copy_(hx[1][i]);
      run_lstm_forward(x, all.weights(i), has_biases, reverse, state, cell, keeps ? gates[i] : Tensor());
      outputs.push_back(state.narrow(0, reverse ? 0 : 1, steps));
      last_hidden.push_back(state[reverse ? 0 : steps]);
      last_cell.push_back(cell[reverse ? 0 : steps]);
    }
    x = directions == 1 ? outputs[0] : at::cat(outputs, 2);
  }
  // What is kept is nobody else's.
  if (keeps && directions == 1) x = x.clone();
  if (!keeps) states = at::empty({0}, input.options()), cells = gates = at::empty({0}, in_float);
  return {batch_first ? x.transpose(0, 1) : x,
          at::stack(last_hidden),
          at::stack(last_cell).to(input.scalar_type()),
          gates,
          cells,
          states};
}

std::tuple<Tensor, std::vector<Tensor>, std::vector<Tensor>> lstm_mps_backward(
    const std::optional<Tensor>& grad_y, const std::optional<Tensor>& grad_hy, const std::optional<Tensor>& grad_cy,
    const Tensor& z_state, const Tensor& cell_state_fwd, const Tensor& input, const Tensor& layersOutputs,
    TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double, bool, bool bidirectional,
    bool batch_first) {
  const LstmLayers all{hx, params, has_biases, bidirectional};
  const Tensor &gates = z_state, &cells = cell_state_fwd, &states = layersOutputs;
  const std::int64_t directions = all.directions(), each = has_biases ? 4 : 2;
  const std::int64_t steps = gates.size(1), batch = gates.size(2), width = gates.size(4);
  const ScalarType type = input.scalar_type();
  const auto given = [](const std::optional<Tensor>& one) { return one && one->defined(); };

  const auto slots = [&](std::int64_t i, bool behind) {  // states before each step, or behind it
    const bool reverse = i % directions == 1;
    return states[i].narrow(0, reverse != behind ? 1 : 0, steps);
  };
  std::vector<Tensor> grads(params.size());
  Tensor grad_hidden = at::zeros(hx[0].sizes(), input.options().dtype(kFloat)), grad_cell = at::zeros_like(grad_hidden);
  if (given(grad_hy)) grad_hidden.copy_(*grad_hy);
  if (given(grad_cy)) grad_cell.copy_(*grad_cy);
  // Of a layer's results, (steps, batch, directions * width).
  Tensor grad = given(grad_y) ? (batch_first ? grad_y->transpose(0, 1) : *grad_y)
                              : at::zeros({steps, batch, directions * width}, input.options());
  for (std::int64_t layer = num_layers - 1; layer >= 0; --layer) {
    Tensor x = batch_first ? input.transpose(0, 1) : input;
    if (layer > 0) {
      x = slots((layer - 1) * directions, true);
      if (directions == 2) x = at::cat({x, slots((layer - 1) * directions + 1, true)}, 2);
    }
    const Tensor rows = x.reshape({steps * batch, -1});
    Tensor grad_rows;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t i = layer * directions + direction;
      const Tensor own = grad.narrow(2, direction * width, width);
      const Tensor outputs = own.stride(2) == 1 ? own : own.contiguous();
      const Tensor weight = all.weights(i)[1].contiguous();
      const Tensor slopes = at::empty({steps, batch, 4, width}, input.options());
      RecurrentShape shape{};
      shape.steps = static_cast<std::uint32_t>(steps);
      shape.batch = static_cast<std::uint32_t>(batch);
      shape.width = static_cast<std::uint32_t>(width);
      shape.reverse = direction == 1;
      shape.input_step = static_cast<std::uint32_t>(outputs.stride(0));
      shape.input_row = static_cast<std::uint32_t>(outputs.stride(1));
      const std::uint64_t count = sequences_per_group(batch), threads = recurrent_threads(width);
      metalloid::operators::run(lib, recurrent_kernel("lstm_backward", type) + "_" + std::to_string(count),
                                {(batch + count - 1) / count * threads, 1, 1}, {threads, 1, 1}, slopes, grad_hidden[i],
                                grad_cell[i], outputs, cells[i], gates[i], weight, shape);
      const Tensor flat = slopes.view({steps * batch, 4 * width}), turned = flat.t();
      grads[i * each] = at::mm(turned, rows);
      grads[i * each + 1] = at::mm(turned, slots(i, false).reshape({steps * batch, width}));
      if (has_biases) {
        grads[i * each + 2] = flat.sum(0);
        grads[i * each + 3] = grads[i * each + 2].clone();
      }
      grad_rows = direction == 0 ? at::mm(flat, all.weights(i)[0]) : at::addmm(grad_rows, flat, all.weights(i)[0]);
    }
    grad = grad_rows.view({steps, batch, -1});
  }
  return {batch_first ? grad.transpose(0, 1) : grad, {grad_hidden.to(type), grad_cell.to(type)}, grads};
}

}  // namespace at::native
