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
#include <ATen/ops/empty_like.h>
#include <ATen/ops/lstm_mps_backward_native.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <ATen/native/mps/Recurrent_metallib.h>

#include <vector>

#include "kernels.h"

namespace at::native {
namespace {

// As the kernels' struct.
struct RecurrentShape {
  std::uint32_t steps, batch, size, width, reverse, keeps_gates, has_biases;
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

// What a layer computes in one direction, and the states it begins with. Slots are (steps + 1, batch, width), states
// (batch, width); `gates` is undefined where nobody wants them.
struct LstmStates {
  Tensor hidden, cells, gates;  // of all steps
  Tensor first_hidden, first_cell, last_hidden, last_cell;
};

// Inputs (steps, batch, size).
void run_lstm_forward(const Tensor& inputs, const Tensor* weights, bool has_biases, bool reverse,
                      const LstmStates& states) {
  const std::int64_t steps = inputs.size(0), batch = inputs.size(1), size = inputs.size(2);
  const std::int64_t width = states.hidden.size(2);
  const std::int64_t input_blocks = (size + 31) / 32, blocks = (width + 31) / 32;
  // In the order that inputs lie in.
  const bool is_batch_first = !inputs.is_contiguous() && inputs.transpose(0, 1).is_contiguous();
  const Tensor as_it_lies = is_batch_first ? inputs.transpose(0, 1) : inputs;
  RecurrentShape shape{};
  shape.steps = static_cast<std::uint32_t>(steps);
  shape.batch = static_cast<std::uint32_t>(batch);
  shape.size = static_cast<std::uint32_t>(size);
  shape.width = static_cast<std::uint32_t>(width);
  shape.reverse = reverse;
  shape.keeps_gates = states.gates.defined();
  shape.has_biases = has_biases;
  const Tensor input_weight = weights[0].contiguous(), weight = weights[1].contiguous();
  const Tensor turned = at::empty({size, 4 * width}, weight.options()),
               packed = at::empty({blocks, 2, width, 2, 32}, weight.options());
  const auto type = weight.scalar_type();
  const auto extent = [](std::int64_t count) { return static_cast<std::uint64_t>(count); };
  metalloid::operators::run(lib, recurrent_kernel("recurrent_pack", type),
                            {extent(std::max(input_blocks, blocks)) * 32, extent(blocks), 8}, {32, 1, 1}, turned,
                            packed, input_weight, weight, shape);
  const Tensor products = at::matmul(as_it_lies, turned);
  shape.input_step = static_cast<std::uint32_t>(products.stride(is_batch_first ? 1 : 0));
  shape.input_row = static_cast<std::uint32_t>(products.stride(is_batch_first ? 0 : 1));
  const std::uint64_t rows = sequences_per_group(batch), threads = recurrent_threads(width);
  metalloid::operators::run(lib, recurrent_kernel("lstm_forward", type) + "_" + std::to_string(rows),
                            {(extent(batch) + rows - 1) / rows * threads, 1, 1}, {threads, 1, 1}, states.hidden,
                            states.cells, states.gates.defined() ? states.gates : states.cells, products, packed,
                            has_biases ? weights[2].contiguous() : weight,
                            has_biases ? weights[3].contiguous() : weight, states.first_hidden, states.first_cell,
                            states.last_hidden, states.last_cell, shape);
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
  const Tensor first_hidden = hx[0].contiguous(), first_cell = hx[1].contiguous();
  const Tensor last_hidden = at::empty({count, batch, width}, input.options()), last_cell = at::empty_like(last_hidden);
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::int64_t i = layer * directions + direction;
      const bool reverse = direction == 1;
      const Tensor state = keeps ? states[i] : at::empty({steps + 1, batch, width}, input.options());
      const Tensor cell = keeps ? cells[i] : at::empty({steps + 1, batch, width}, in_float);
      run_lstm_forward(
          x, all.weights(i), has_biases, reverse,
          {state, cell, keeps ? gates[i] : Tensor(), first_hidden[i], first_cell[i], last_hidden[i], last_cell[i]});
      outputs.push_back(state.narrow(0, reverse ? 0 : 1, steps));
    }
    x = directions == 1 ? outputs[0] : at::cat(outputs, 2);
  }
  // What is kept is nobody else's.
  if (keeps && directions == 1) x = x.clone();
  if (!keeps) states = at::empty({0}, input.options()), cells = gates = at::empty({0}, in_float);
  return {batch_first ? x.transpose(0, 1) : x, last_hidden, last_cell, gates, cells, states};
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
