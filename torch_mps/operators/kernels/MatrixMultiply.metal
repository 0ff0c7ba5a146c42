// Products of matrices.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;
using c10::metal::opmath_t;

// Strides count elements: batch, row, column.
struct MatmulParams {
  long rows, columns, depth;
  long first[3], second[3], input[3], result[3];
  float alpha[2], beta[2];  // complex numbers
  long integer_alpha, integer_beta;
  int scales;     // alpha is not 1
  int has_input;  // beta is not 0
};

// A tile of the result belongs to 64 threads, each with 4 by 4 of its elements.
constant constexpr uint tile = 32;
constant constexpr uint tile_depth = 16;
constant constexpr uint tile_threads = 64;

template <typename Number>
inline Number multiply(Number left, Number right) {
  return c10::metal::mul(left, right);
}

template <typename T>
struct Scalars {
  static opmath_t<T> alpha(constant MatmulParams& params) { return opmath_t<T>(params.integer_alpha); }
  static opmath_t<T> beta(constant MatmulParams& params) { return opmath_t<T>(params.integer_beta); }
};
#define REAL_SCALARS(T)                                                                 \
  template <>                                                                           \
  struct Scalars<T> {                                                                   \
    static float alpha(constant MatmulParams& params) { return params.alpha[0]; }       \
    static float beta(constant MatmulParams& params) { return params.beta[0]; }         \
  };
#define COMPLEX_SCALARS(T)                                                                                      \
  template <>                                                                                                   \
  struct Scalars<T> {                                                                                           \
    static float2 alpha(constant MatmulParams& params) { return float2(params.alpha[0], params.alpha[1]); }     \
    static float2 beta(constant MatmulParams& params) { return float2(params.beta[0], params.beta[1]); }        \
  };
REAL_SCALARS(float)
REAL_SCALARS(half)
REAL_SCALARS(bfloat)
COMPLEX_SCALARS(float2)
COMPLEX_SCALARS(half2)

template <typename T>
inline void finish(device T* result, device const T* input, constant MatmulParams& params, uint3 place, opmath_t<T> sum) {
  if (params.scales) sum = multiply(Scalars<T>::alpha(params), sum);
  if (params.has_input) {
    const opmath_t<T> before =
        opmath_t<T>(input[place.z * params.input[0] + place.y * params.input[1] + place.x * params.input[2]]);
    sum += multiply(Scalars<T>::beta(params), before);
  }
  result[place.z * params.result[0] + place.y * params.result[1] + place.x * params.result[2]] = T(sum);
}

// A thread for each element of the result: small matrices.
template <typename T>
kernel void matmul_each(device T* result [[buffer(0)]], device const T* first [[buffer(1)]],
                        device const T* second [[buffer(2)]], device const T* input [[buffer(3)]],
                        constant MatmulParams& params [[buffer(4)]], uint3 place [[thread_position_in_grid]]) {
  device const T* row = first + place.z * params.first[0] + place.y * params.first[1];
  device const T* column = second + place.z * params.second[0] + place.x * params.second[2];
  opmath_t<T> sum(0);
  for (long i = 0; i < params.depth; ++i) {
    sum += multiply(opmath_t<T>(row[i * params.first[2]]), opmath_t<T>(column[i * params.second[1]]));
  }
  finish(result, input, params, place, sum);
}

// A SIMD group for each element of the result: few elements, long sums.
inline float simd_total(float value) { return simd_sum(value); }
inline int simd_total(int value) { return simd_sum(value); }
inline float2 simd_total(float2 value) { return float2(simd_sum(value.x), simd_sum(value.y)); }
inline long simd_total(long value) {
  for (ushort distance = 16; distance > 0; distance /= 2) {
    value += as_type<long>(simd_shuffle_xor(as_type<int2>(value), distance));
  }
  return value;
}

template <typename T>
kernel void matmul_simd(device T* result [[buffer(0)]], device const T* first [[buffer(1)]],
                        device const T* second [[buffer(2)]], device const T* input [[buffer(3)]],
                        constant MatmulParams& params [[buffer(4)]], uint3 place [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
  device const T* row = first + place.z * params.first[0] + place.y * params.first[1];
  device const T* column = second + place.z * params.second[0] + place.x * params.second[2];
  opmath_t<T> sum(0);
  if (params.first[2] == 1 && params.second[1] == 1) {  // side by side
    for (long i = lane; i < params.depth; i += 32) sum += multiply(opmath_t<T>(row[i]), opmath_t<T>(column[i]));
  } else {
    for (long i = lane; i < params.depth; i += 32) {
      sum += multiply(opmath_t<T>(row[i * params.first[2]]), opmath_t<T>(column[i * params.second[1]]));
    }
  }
  sum = simd_total(sum);
  if (lane == 0) finish(result, input, params, place, sum);
}

// Few rows times columns that lie along the depth: a SIMD group has two columns, and four rows at a time.
constant constexpr int few_rows = 4;
constant constexpr int few_columns = 2;

template <typename T>
inline void add_few(thread device const T* (&rows)[few_rows], thread device const T* (&columns)[few_columns], int k,
                    thread float (&sums)[few_rows][few_columns]) {
  float right[few_columns];
  for (int j = 0; j < few_columns; ++j) right[j] = float(columns[j][k]);
  for (int i = 0; i < few_rows; ++i) {
    const float left = float(rows[i][k]);
    for (int j = 0; j < few_columns; ++j) sums[i][j] = fma(left, right[j], sums[i][j]);
  }
}

template <typename T>
kernel void matmul_few(device T* result [[buffer(0)]], device const T* first [[buffer(1)]],
                       device const T* second [[buffer(2)]], device const T* input [[buffer(3)]],
                       constant MatmulParams& params [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
  first += group.z * params.first[0];
  second += group.z * params.second[0];
  const int column = int(group.x) * few_columns, last_column = int(params.columns) - 1, last_row = int(params.rows) - 1;
  device const T* columns[few_columns];
  for (int j = 0; j < few_columns; ++j) columns[j] = second + min(column + j, last_column) * params.second[2];
  for (int row = 0; row <= last_row; row += few_rows) {
    device const T* rows[few_rows];
    float sums[few_rows][few_columns];
    for (int i = 0; i < few_rows; ++i) {
      rows[i] = first + min(row + i, last_row) * params.first[1];
      for (int j = 0; j < few_columns; ++j) sums[i][j] = 0.0f;
    }
    const int depth = int(params.depth), whole = depth / 32 * 32;
    for (int k = 0; k < whole; k += 32) add_few(rows, columns, k + int(lane), sums);
    if (whole + int(lane) < depth) add_few(rows, columns, whole + int(lane), sums);
    for (int i = 0; i < few_rows; ++i) {
      for (int j = 0; j < few_columns; ++j) {
        const float sum = simd_sum(sums[i][j]);
        if (lane == 0 && row + i <= last_row && column + j <= last_column) {
          finish(result, input, params, uint3(column + j, row + i, group.z), sum);
        }
      }
    }
  }
}

// Sums of a tile. `Load` brings its rows and columns to threadgroup memory, tile_depth of each at a time.
template <typename Sum, typename Load>
inline void sum_tile(thread Load& load, long depth, threadgroup Sum* rows, threadgroup Sum* columns, uint thread_index,
                     thread Sum (&sums)[4][4]) {
  const uint x = thread_index % 8 * 4, y = thread_index / 8 * 4;
  for (uint i = 0; i < 4; ++i) {
    for (uint j = 0; j < 4; ++j) sums[i][j] = Sum(0);
  }
  for (long begin = 0; begin < depth; begin += tile_depth) {
    load.bring(begin, rows, columns, thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < tile_depth; ++k) {
      Sum left[4], right[4];
      for (uint i = 0; i < 4; ++i) {
        left[i] = rows[k * tile + y + i];
        right[i] = columns[k * tile + x + i];
      }
      for (uint i = 0; i < 4; ++i) {
        for (uint j = 0; j < 4; ++j) sums[i][j] += multiply(left[i], right[j]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template <typename T>
struct MatmulLoad {
  device const T* first;
  device const T* second;
  constant MatmulParams& params;
  long row, column;  // where the tile begins

  // Neighbouring threads read neighbouring elements, along the depth or across it.
  void bring(long begin, threadgroup opmath_t<T>* rows, threadgroup opmath_t<T>* columns, uint thread_index) const thread {
    const bool rows_along = params.first[2] == 1, columns_along = params.second[1] == 1;
    for (uint i = thread_index; i < tile * tile_depth; i += tile_threads) {
      uint across = rows_along ? i / tile_depth : i % tile;
      uint along = rows_along ? i % tile_depth : i / tile;
      const bool has_row = row + across < params.rows && begin + along < params.depth;
      rows[along * tile + across] =
          has_row ? opmath_t<T>(first[(row + across) * params.first[1] + (begin + along) * params.first[2]])
                  : opmath_t<T>(0);
      across = columns_along ? i / tile_depth : i % tile;
      along = columns_along ? i % tile_depth : i / tile;
      const bool has_column = column + across < params.columns && begin + along < params.depth;
      columns[along * tile + across] =
          has_column ? opmath_t<T>(second[(begin + along) * params.second[1] + (column + across) * params.second[2]])
                     : opmath_t<T>(0);
    }
  }
};

template <typename T>
kernel void matmul_tiled(device T* result [[buffer(0)]], device const T* first [[buffer(1)]],
                         device const T* second [[buffer(2)]], device const T* input [[buffer(3)]],
                         constant MatmulParams& params [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                         uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup opmath_t<T> rows[tile * tile_depth];
  threadgroup opmath_t<T> columns[tile * tile_depth];
  opmath_t<T> sums[4][4];
  MatmulLoad<T> load{first + group.z * params.first[0], second + group.z * params.second[0], params, long(group.y) * tile,
                     long(group.x) * tile};
  sum_tile(load, params.depth, rows, columns, thread_index, sums);
  const uint x = group.x * tile + thread_index % 8 * 4, y = group.y * tile + thread_index / 8 * 4;
  for (uint i = 0; i < 4 && y + i < params.rows; ++i) {
    for (uint j = 0; j < 4 && x + j < params.columns; ++j) {
      finish(result, input, params, uint3(x + j, y + i, group.z), sums[i][j]);
    }
  }
}

// A SIMD group multiplies so many rows and columns as one operation. With Adds, alpha and beta are 1: the input's
// elements are what sums begin with.
template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_inline>;

template <typename T>
inline Matrix<T> matrix_of(device T* elements, long rows, long columns, constant long* strides) {
  const array<long, 2> steps = {strides[2], strides[1]};
  return Matrix<T>(elements, dextents<int, 2>(int(columns), int(rows)), steps);
}

template <typename T, int Rows, int Columns, bool Adds>
kernel void matmul_tensors(device T* result [[buffer(0)]], device T* first [[buffer(1)]], device T* second [[buffer(2)]],
                           device const T* input [[buffer(3)]], constant MatmulParams& params [[buffer(4)]],
                           uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const long row = long(group.y) * Rows, column = long(group.x) * Columns;
  const long rows = min(long(Rows), params.rows - row), columns = min(long(Columns), params.columns - column);
  result += group.z * params.result[0] + row * params.result[1] + column * params.result[2];
  if (Adds) {
    input += group.z * params.input[0] + row * params.input[1] + column * params.input[2];
    const bool is_row = params.result[2] == 1 && params.input[2] == 1;
    for (int i = 0; i < rows; ++i) {
      device T* to = result + i * params.result[1];
      device const T* from = input + i * params.input[1];
      if (is_row) {
        for (int j = lane; j < columns; j += 32) to[j] = from[j];
      } else if (params.result[2] == 1 && params.input[2] == 0) {
        const T same = from[0];
        for (int j = lane; j < columns; j += 32) to[j] = same;
      } else {
        for (int j = lane; j < columns; j += 32) to[j * params.result[2]] = from[j * params.input[2]];
      }
    }
    simdgroup_barrier(mem_flags::mem_device);
  }
  constexpr auto mode =
      Adds ? matmul2d_descriptor::mode::multiply_accumulate : matmul2d_descriptor::mode::multiply;
  constexpr auto descriptor = matmul2d_descriptor(Rows, Columns, dynamic_length_v<int>, false, false, true, mode);
  matmul2d<descriptor, execution_simdgroup> operation;
  auto left = matrix_of(first + group.z * params.first[0] + row * params.first[1], rows, params.depth, params.first);
  auto right =
      matrix_of(second + group.z * params.second[0] + column * params.second[2], params.depth, columns, params.second);
  auto sums = matrix_of(result, rows, columns, params.result);
  operation.run(left, right, sums);
}

#define MATMUL(T)                                                                                                     \
  template [[host_name("matmul_each_" #T)]] kernel void matmul_each<T>(                                               \
      device T*, device const T*, device const T*, device const T*, constant MatmulParams&, uint3);                   \
  template [[host_name("matmul_simd_" #T)]] kernel void matmul_simd<T>(                                               \
      device T*, device const T*, device const T*, device const T*, constant MatmulParams&, uint3, uint);             \
  template [[host_name("matmul_tiled_" #T)]] kernel void matmul_tiled<T>(                                             \
      device T*, device const T*, device const T*, device const T*, constant MatmulParams&, uint3, uint);
#define MATMUL_TENSORS(T, Rows, Columns)                                                                    \
  template [[host_name("matmul_tensors_" #Rows "_" #Columns "_" #T)]] kernel void                          \
  matmul_tensors<T, Rows, Columns, false>(device T*, device T*, device T*, device const T*,                 \
                                          constant MatmulParams&, uint3, uint);                             \
  template [[host_name("matmul_tensors_added_" #Rows "_" #Columns "_" #T)]] kernel void                    \
  matmul_tensors<T, Rows, Columns, true>(device T*, device T*, device T*, device const T*,                  \
                                         constant MatmulParams&, uint3, uint);
#define MATMUL_OF_FLOATS(T)                                                                                 \
  MATMUL_TENSORS(T, 16, 128) MATMUL_TENSORS(T, 64, 64) MATMUL_TENSORS(T, 64, 112) MATMUL_TENSORS(T, 64, 128) \
  MATMUL_TENSORS(T, 112, 112) MATMUL_TENSORS(T, 112, 128) MATMUL_TENSORS(T, 128, 128)                       \
  template [[host_name("matmul_few_" #T)]] kernel void matmul_few<T>(                                       \
      device T*, device const T*, device const T*, device const T*, constant MatmulParams&, uint3, uint);

MATMUL_OF_FLOATS(float) MATMUL_OF_FLOATS(half) MATMUL_OF_FLOATS(bfloat)
MATMUL(float) MATMUL(half) MATMUL(bfloat) MATMUL(float2) MATMUL(half2)
MATMUL(long) MATMUL(int) MATMUL(short) MATMUL(char) MATMUL(uchar)
