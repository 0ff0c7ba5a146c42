// The steps of an LSTM's layer in one direction, and back through them. A threadgroup takes a few sequences through all
// steps, since sequences do not depend on each other; a simdgroup takes 32 elements of the state at a time. The products
// of all inputs with their weights are done before: what is left of a step's product has few rows.
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

// As the host's struct. States lie in slots of (batch, width), of which a layer has one more than steps: step t of a layer
// that runs backwards takes slot t + 1 to slot t.
struct RecurrentShape {
  uint steps, batch, size, width, reverse, keeps_gates, has_biases;
  uint input_step, input_row;  // strides of the inputs' products
};

constant constexpr uint lanes = 32;
constant constexpr uint gate_count = 4;  // input, forget, cell, output: the order of the weights

inline float logistic(float x) {
  return 1.0f / (1.0f + precise::exp(-x));
}

// Turns 32 columns of a row in each lane: `to` has the elements of a column side by side, zeros behind the last row.
template <typename T>
inline void turn(device T* to, ulong step, constant T* row, bool is_there, uint first, uint size) {
  const uint end = min(first + lanes, size);
  uint column = first;
  for (; column + 4 <= end; column += 4) {
    for (uint i = 0; i < 4; ++i) {
      const T one = row[column + i];
      to[(column + i) * step] = is_there ? one : T(0);
    }
  }
  for (; column < end; ++column) to[column * step] = is_there ? row[column] : T(0);
}

// The inputs' weight (4 * width, size) turned, and the states' (4 * width, width) by blocks of 32 outputs and pairs of
// gates: (blocks, 2, width, 2, 32), with zeros behind the last output.
template <typename T>
kernel void recurrent_pack(
    device T* turned [[buffer(0)]],
    device T* packed [[buffer(1)]],
    constant T* input_weight [[buffer(2)]],
    constant T* weight [[buffer(3)]],
    constant RecurrentShape& shape [[buffer(4)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  const uint width = shape.width, size = shape.size, first = group.x * lanes, block = group.y;
  if (group.z < gate_count) {
    const uint gate = group.z, output = block * lanes + lane;
    constant T* row = weight + ulong(gate * width + min(output, width - 1)) * width;
    device T* to = packed + (ulong(block) * 2 + gate / 2) * width * 2 * lanes + gate % 2 * lanes + lane;
    turn(to, 2 * lanes, row, output < width, first, width);
    return;
  }
  const uint outputs = gate_count * width, output = (block * gate_count + group.z - gate_count) * lanes + lane;
  if (output < outputs) turn(turned + output, outputs, input_weight + ulong(output) * size, true, first, size);
}

// Adds the products of `rows` rows with two columns of a matrix: column c has its elements `step` apart.
template <uint rows, typename T, typename Weight>
inline void add_products(
    thread float (&first)[rows],
    thread float (&second)[rows],
    device const T* values,
    thread const uint (&places)[rows],
    Weight weight,
    uint apart,
    uint step,
    uint depth) {
  device const T* row[rows];
  for (uint r = 0; r < rows; ++r) row[r] = values + places[r];
  uint k = 0;
  for (; k + 4 <= depth; k += 4) {
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const float a = float(weight[i * step]), b = float(weight[i * step + apart]);
#pragma unroll
      for (uint r = 0; r < rows; ++r) {
        const float value = float(row[r][i]);
        first[r] = fma(value, a, first[r]);
        second[r] = fma(value, b, second[r]);
      }
    }
    weight += 4 * step;
    for (uint r = 0; r < rows; ++r) row[r] += 4;
  }
  for (; k < depth; ++k) {
    const float a = float(weight[0]), b = float(weight[apart]);
#pragma unroll
    for (uint r = 0; r < rows; ++r) {
      const float value = float(row[r][0]);
      first[r] = fma(value, a, first[r]);
      second[r] = fma(value, b, second[r]);
    }
    weight += step;
    for (uint r = 0; r < rows; ++r) ++row[r];
  }
}

template <typename T, uint rows>
kernel void lstm_forward(
    device T* hidden [[buffer(0)]],      // (steps + 1, batch, width)
    device float* cells [[buffer(1)]],   // the same
    device float* gates [[buffer(2)]],   // (steps, batch, 4, width), behind their functions
    constant T* inputs [[buffer(3)]],    // (steps, batch, 4, width) by their strides
    constant T* packed [[buffer(4)]],
    constant T* input_bias [[buffer(5)]],  // (4, width)
    constant T* bias [[buffer(6)]],        // the same
    constant T* first_hidden [[buffer(7)]],  // (batch, width), and so on
    constant T* first_cell [[buffer(8)]],
    device T* last_hidden [[buffer(9)]],
    device T* last_cell [[buffer(10)]],
    constant RecurrentShape& shape [[buffer(11)]],
    uint group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint width = shape.width, batch = shape.batch, reverse = shape.reverse;
  const uint blocks = (width + lanes - 1) / lanes;
  // A threadgroup with fewer sequences does its last one again.
  uint row[rows], places[rows];
  for (uint r = 0; r < rows; ++r) {
    row[r] = min(group * rows + r, batch - 1);
    places[r] = row[r] * width;
  }
  const ulong begin = ulong(reverse ? shape.steps : 0) * batch * width;
  for (uint j = simdgroup * lanes + lane; j < width; j += simdgroups * lanes) {
    for (uint r = 0; r < rows; ++r) {
      hidden[begin + places[r] + j] = first_hidden[places[r] + j];
      cells[begin + places[r] + j] = float(first_cell[places[r] + j]);
    }
  }
  threadgroup_barrier(mem_flags::mem_device);
  for (uint step = 0; step < shape.steps; ++step) {
    const uint t = reverse ? shape.steps - 1 - step : step;
    const ulong from = ulong(t + reverse) * batch * width, to = ulong(t + 1 - reverse) * batch * width;
    // To and fro: what a step has read last is still in a cache when the next one begins.
    for (uint turn = simdgroup; turn < blocks; turn += simdgroups) {
      const uint block = step % 2 == 0 ? turn : blocks - 1 - turn;
      constant T* weight = packed + ulong(block) * width * gate_count * lanes + lane;
      float sums[gate_count][rows] = {};
      add_products<rows>(sums[0], sums[1], hidden + from, places, weight, lanes, 2 * lanes, width);
      add_products<rows>(
          sums[2], sums[3], hidden + from, places, weight + 2 * width * lanes, lanes, 2 * lanes, width);
      const uint j = block * lanes + lane;
      if (j < width) {
        float added[gate_count] = {};
        for (uint gate = 0; shape.has_biases && gate < gate_count; ++gate) {
          added[gate] = float(input_bias[gate * width + j]) + float(bias[gate * width + j]);
        }
        for (uint r = 0; r < rows; ++r) {
          constant T* input = inputs + ulong(t) * shape.input_step + ulong(row[r]) * shape.input_row + j;
          const float in = logistic(sums[0][r] + (float(input[0]) + added[0]));
          const float forget = logistic(sums[1][r] + (float(input[width]) + added[1]));
          const float cell = precise::tanh(sums[2][r] + (float(input[2 * width]) + added[2]));
          const float out = logistic(sums[3][r] + (float(input[3 * width]) + added[3]));
          const float next = forget * cells[from + places[r] + j] + in * cell;
          cells[to + places[r] + j] = next;
          hidden[to + places[r] + j] = T(out * precise::tanh(next));
          if (shape.keeps_gates) {
            device float* kept = gates + (ulong(t) * batch + row[r]) * gate_count * width + j;
            kept[0] = in;
            kept[width] = forget;
            kept[2 * width] = cell;
            kept[3 * width] = out;
          }
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_device);
  }
  const ulong end = ulong(reverse ? 0 : shape.steps) * batch * width;
  for (uint j = simdgroup * lanes + lane; j < width; j += simdgroups * lanes) {
    for (uint r = 0; r < rows; ++r) {
      last_hidden[places[r] + j] = hidden[end + places[r] + j];
      last_cell[places[r] + j] = T(cells[end + places[r] + j]);
    }
  }
}

// The gradient of what the gates' functions are taken of, (steps, batch, 4, width), and of the state at the beginning:
// those of the state at the end come in its place.
template <typename T, uint rows>
kernel void lstm_backward(
    device T* slopes [[buffer(0)]],
    device float* hidden_slopes [[buffer(1)]],  // (batch, width)
    device float* cell_slopes [[buffer(2)]],    // (batch, width)
    constant T* output_slopes [[buffer(3)]],    // (steps, batch, width) by its strides
    constant float* cells [[buffer(4)]],
    constant float* gates [[buffer(5)]],
    constant T* weight [[buffer(6)]],  // (4 * width, width)
    constant RecurrentShape& shape [[buffer(7)]],
    uint group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint width = shape.width, batch = shape.batch, reverse = shape.reverse;
  const uint count = min(rows, batch - group * rows);
  uint places[rows];
  for (uint r = 0; r < rows; ++r) places[r] = min(group * rows + r, batch - 1) * gate_count * width;
  for (uint step = 0; step < shape.steps; ++step) {
    const uint t = reverse ? step : shape.steps - 1 - step;
    const ulong from = ulong(t + reverse) * batch * width, to = ulong(t + 1 - reverse) * batch * width;
    device T* slope = slopes + ulong(t) * batch * gate_count * width;
    for (uint j = simdgroup * lanes + lane; j < width; j += simdgroups * lanes) {
      for (uint r = 0; r < count; ++r) {
        const uint row = group * rows + r;
        constant float* kept = gates + (ulong(t) * batch + row) * gate_count * width + j;
        const float in = kept[0], forget = kept[width], cell = kept[2 * width], out = kept[3 * width];
        const float curved = precise::tanh(cells[to + row * width + j]);
        const float hidden = hidden_slopes[row * width + j] +
            float(output_slopes[ulong(t) * shape.input_step + ulong(row) * shape.input_row + j]);
        const float through = cell_slopes[row * width + j] + hidden * out * (1.0f - curved * curved);
        device T* result = slope + row * gate_count * width + j;
        result[0] = T(through * cell * in * (1.0f - in));
        result[width] = T(through * cells[from + row * width + j] * forget * (1.0f - forget));
        result[2 * width] = T(through * in * (1.0f - cell * cell));
        result[3 * width] = T(hidden * curved * out * (1.0f - out));
        cell_slopes[row * width + j] = through * forget;
      }
    }
    threadgroup_barrier(mem_flags::mem_device);
    // Elements of the state in pairs of blocks, as the gates are above.
    for (uint block = 2 * simdgroup; block * lanes < width; block += 2 * simdgroups) {
      const uint j = block * lanes + lane;
      float sums[2][rows] = {};
      if ((block + 2) * lanes <= width) {
        add_products<rows>(sums[0], sums[1], slope, places, weight + j, lanes, width, gate_count * width);
      } else {
        // Lanes behind the end do others' work.
        const uint first = min(j, width - 1), apart = min(j + lanes, width - 1) - first;
        add_products<rows>(sums[0], sums[1], slope, places, weight + first, apart, width, gate_count * width);
      }
      for (uint r = 0; r < count; ++r) {
        const uint place = (group * rows + r) * width + j;
        if (j < width) hidden_slopes[place] = sums[0][r];
        if (j + lanes < width) hidden_slopes[place + lanes] = sums[1][r];
      }
    }
    // The next step's elements are other threads'.
    threadgroup_barrier(mem_flags::mem_device);
  }
}

#define FORWARD(T, ROWS)                                                                                     \
  template [[host_name("lstm_forward_" #T "_" #ROWS)]] kernel void lstm_forward<T, ROWS>(                    \
      device T*, device float*, device float*, constant T*, constant T*, constant T*, constant T*,           \
      constant T*, constant T*, device T*, device T*, constant RecurrentShape&, uint, uint, uint, uint);
#define BACKWARD(T, ROWS)                                                                                       \
  template [[host_name("lstm_backward_" #T "_" #ROWS)]] kernel void lstm_backward<T, ROWS>(                     \
      device T*, device float*, device float*, constant T*, constant float*, constant float*, constant T*,      \
      constant RecurrentShape&, uint, uint, uint, uint);
#define EACH(T)                                                                              \
  template [[host_name("recurrent_pack_" #T)]] kernel void recurrent_pack<T>(                \
      device T*, device T*, constant T*, constant T*, constant RecurrentShape&, uint3, uint);                       \
  FORWARD(T, 1) FORWARD(T, 2) FORWARD(T, 4) BACKWARD(T, 1) BACKWARD(T, 2) BACKWARD(T, 4)
EACH(float) EACH(half) EACH(bfloat)
