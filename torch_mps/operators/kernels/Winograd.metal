// Convolutions by Winograd's minimal filtering, F(2 x 2, 3 x 3) (Lavin and Gray, arXiv 1509.09308): places of a 3 x 3
// weight with steps of 1. A tile of 2 x 2 results is made of 4 x 4 elements of an image, whose transform is multiplied
// by that of the weight, place by place: 16 products for 4 results, where sums one by one take 36. With * for place by
// place, and sums over channels,
//   result = A' (sum of (G weight G') * (B' image B)) A
//
// Tiles are counted through all rows of tiles of all images, with one more at the end of each row that is none: so
// element i of tile t of a row of elements is element 2 t + i of all rows, one behind the other.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;

struct WinogradWeights {
  long row, channel, taps[2];  // strides
  int rows, channels;
};

struct WinogradParams {
  long gathered_image, gathered_channel, gathered_row;
  long result_image, result_channel, result_row;
  long bias_step;
  long memory;  // elements of a threadgroup
  int rows, channels;               // of the result, and what is summed up
  int sizes[2], gathered_sizes[2];  // of images: down, across
  int first[2];                     // where the first tile begins
  int image_tiles, tile_rows;       // rows of tiles of an image, and of all
  int pitch;                        // tiles of a row, with the one that is none
  int block, blocks;                // tiles at once
  int has_bias;
};

// Elements of one place of all weights, apart so that places do not meet in a cache.
inline long place_of_weights(int rows, int channels) { return long(rows) * channels + 16; }

// Of 16 x (rows, channels).
inline void transform_weight(thread const float (&weight)[3][3], device float* to, long place) {
  float half_way[4][3];
  for (int x = 0; x < 3; ++x) {
    const float ends = weight[0][x] + weight[2][x];
    half_way[0][x] = weight[0][x];
    half_way[1][x] = 0.5f * (ends + weight[1][x]);
    half_way[2][x] = 0.5f * (ends - weight[1][x]);
    half_way[3][x] = weight[2][x];
  }
  for (int y = 0; y < 4; ++y) {
    const float ends = half_way[y][0] + half_way[y][2];
    to[(4 * y + 0) * place] = half_way[y][0];
    to[(4 * y + 1) * place] = 0.5f * (ends + half_way[y][1]);
    to[(4 * y + 2) * place] = 0.5f * (ends - half_way[y][1]);
    to[(4 * y + 3) * place] = half_way[y][2];
  }
}

template <typename T>
kernel void winograd_weights(device float* transformed [[buffer(0)]], device const T* weights [[buffer(1)]],
                             constant WinogradWeights& params [[buffer(2)]],
                             uint2 position [[thread_position_in_grid]]) {
  device const T* from = weights + position.y * params.row + position.x * params.channel;
  float weight[3][3];
  if (params.taps[0] == 3 && params.taps[1] == 1) {  // side by side
    for (int i = 0; i < 9; ++i) weight[i / 3][i % 3] = float(from[i]);
  } else {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 3; ++x) weight[y][x] = float(from[y * params.taps[0] + x * params.taps[1]]);
    }
  }
  transform_weight(weight, transformed + long(position.y) * params.channels + position.x,
                   place_of_weights(params.rows, params.channels));
}

// A part of a row of tiles, and the ones behind it.
struct Part {
  int image, row;    // of tiles
  int first, count;  // tiles
  int done;          // those before it

  Part(constant WinogradParams& params, int tile, int all) : first(tile % params.pitch), done(0) {
    const int line = tile / params.pitch;
    image = line / params.image_tiles;
    row = line % params.image_tiles;
    count = min(params.pitch - first, all);
  }
  void go_on(constant WinogradParams& params, int all) {
    done += count;
    first = 0;
    count = min(params.pitch, all - done);
    if (++row == params.image_tiles) {
      row = 0;
      ++image;
    }
  }
};

// What a SIMD group has in memory: rows of elements of each channel, summed up down the image; of one row of places at
// a time the tiles of each channel, and products; and what all rows of places sum up to. What is written together lies
// together.
template <int Width>
struct Memory {
  static constant constexpr int elements = 2 * Width + 16;   // of a row
  static constant constexpr int tile_step = 4 * Width + 16;  // from channel to channel
  device float* rows;
  device float* tiles;
  device float* products;
  device float* sums;
};

// Rows have zeros beside an image, so that tiles need not ask where they are.
template <typename T, int Width>
inline void sum_down(device float* rows, device const T* channel, int first, constant WinogradParams& params,
                     uint lane) {
  constexpr int elements = Memory<Width>::elements;
  const int height = params.gathered_sizes[0], width = params.gathered_sizes[1];
  for (Part part(params, first, Width + 1); part.done <= Width; part.go_on(params, Width + 1)) {
    const int y = 2 * part.row + params.first[0], x = 2 * part.first + params.first[1];
    const bool is_image = part.row + part.image * params.image_tiles < params.tile_rows;
    device const T* from = channel + part.image * params.gathered_image + y * params.gathered_row + x;
    device float* to = rows + 2 * part.done;
    for (int i = lane; i < 2 * part.count; i += 32) {
      const bool is_inside = is_image && x + i >= 0 && x + i < width;
      float element[4];
      for (int row = 0; row < 4; ++row) {
        const bool is_there = is_inside && y + row >= 0 && y + row < height;
        element[row] = is_there ? float(from[row * params.gathered_row + i]) : 0.0f;
      }
      to[i] = element[0] - element[2];
      to[elements + i] = element[1] + element[2];
      to[2 * elements + i] = element[2] - element[1];
      to[3 * elements + i] = element[1] - element[3];
    }
  }
}

template <int Width>
inline void sum_across(device float* tiles, device const float* row, uint lane) {
  device const float2* pairs = reinterpret_cast<device const float2*>(row);
  for (int turn = 0; turn < Width / 32; ++turn) {
    const int tile = 32 * turn + int(lane);
    const float2 left = pairs[tile], right = pairs[tile + 1];
    tiles[tile] = left.x - right.x;
    tiles[Width + tile] = left.y + right.x;
    tiles[2 * Width + tile] = right.x - left.y;
    tiles[3 * Width + tile] = left.y - right.y;
  }
}

// Adds products of one row of places, y, to the four results of each tile.
template <int Width>
inline void add_products(device float* sums, device const float* products, long step, int y, float begin, uint lane) {
  for (int turn = 0; turn < Width / 32; ++turn) {
    const int tile = 32 * turn + int(lane);
    const float second = products[step + tile], third = products[2 * step + tile];
    const float left = products[tile] + second + third, right = second - third - products[3 * step + tile];
    device float* to = sums + tile;
    if (y == 0) {
      to[0] = left + begin;
      to[Width] = right + begin;
    } else if (y == 1) {
      to[0] += left;
      to[Width] += right;
      to[2 * Width] = left + begin;
      to[3 * Width] = right + begin;
    } else {
      if (y == 2) {
        to[0] += left;
        to[Width] += right;
      }
      to[2 * Width] -= left;
      to[3 * Width] -= right;
    }
  }
}

// What is real of the results of a channel.
template <typename T, int Width>
inline void write_results(device T* channel, device const float* sums, threadgroup float* rows, int first, int count,
                          constant WinogradParams& params, uint lane) {
  for (int turn = 0; turn < Width / 32; ++turn) {
    const int tile = 32 * turn + int(lane);
    for (int y = 0; y < 2; ++y) {
      reinterpret_cast<threadgroup float2*>(rows + 2 * y * Width)[tile] =
          float2(sums[2 * y * Width + tile], sums[(2 * y + 1) * Width + tile]);
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (Part part(params, first, count); part.done < count; part.go_on(params, count)) {
    const int y = 2 * part.row, x = 2 * part.first, width = min(2 * part.count, params.sizes[1] - x);
    device T* to = channel + part.image * params.result_image + y * params.result_row + x;
    threadgroup const float* from = rows + 2 * part.done;
    for (int i = lane; i < width; i += 32) to[i] = T(from[i]);
    if (y + 1 == params.sizes[0]) continue;
    for (int i = lane; i < width; i += 32) to[params.result_row + i] = T(from[2 * Width + i]);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

// A SIMD group takes some blocks of tiles through all steps, in memory of its own that stays in a cache.
template <typename T, int Rows, int Columns>
kernel void winograd(device T* result [[buffer(0)]], device const T* gathered [[buffer(1)]],
                     device float* weights [[buffer(2)]], device const T* bias [[buffer(3)]],
                     device float* memory [[buffer(4)]], constant WinogradParams& params [[buffer(5)]],
                     uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
  using Matrix = tensor<device float, dextents<int, 2>, tensor_inline>;
  constexpr int width = (Columns + 31) / 32 * 32;  // of rows of tiles
  using Own = Memory<width>;
  threadgroup float result_rows[4 * width];
  constexpr auto descriptor = matmul2d_descriptor(Rows, Columns, dynamic_length_v<int>, false, false, true,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  const int channels = params.channels, all = params.tile_rows * params.pitch;
  const long product_step = Rows * width + 16;  // so that they do not meet in a cache
  Own own;
  own.rows = memory + group * params.memory;
  own.tiles = own.rows + long(channels) * 4 * Own::elements;
  own.products = own.tiles + long(channels) * Own::tile_step;
  own.sums = own.products + 4 * product_step;
  const array<long, 2> left_steps = {1, channels}, right_steps = {1, Own::tile_step}, product_steps = {1, width};
  for (int block = group; block < params.blocks; block += groups) {
    const int first = block * params.block, count = min(params.block, all - first);
    for (int channel = 0; channel < channels; ++channel) {
      sum_down<T, width>(own.rows + channel * 4 * Own::elements, gathered + channel * params.gathered_channel, first,
                         params, lane);
    }
    for (int y = 0; y < 4; ++y) {
      simdgroup_barrier(mem_flags::mem_device);
      for (int channel = 0; channel < channels; ++channel) {
        sum_across<width>(own.tiles + channel * Own::tile_step, own.rows + (4 * channel + y) * Own::elements, lane);
      }
      for (int row = 0; row < params.rows; row += Rows) {
        const int count_of_rows = min(Rows, params.rows - row);
        for (int x = 0; x < 4; ++x) {
          for (int i = 0; i < Rows * width / 32; ++i) own.products[x * product_step + 32 * i + lane] = 0.0f;
        }
        simdgroup_barrier(mem_flags::mem_device);
        for (int x = 0; x < 4; ++x) {
          Matrix left(weights + (4 * y + x) * place_of_weights(params.rows, channels) + row * channels,
                      dextents<int, 2>(channels, count_of_rows), left_steps);
          Matrix right(own.tiles + x * width, dextents<int, 2>(Columns, channels), right_steps);
          Matrix products(own.products + x * product_step, dextents<int, 2>(Columns, count_of_rows), product_steps);
          operation.run(left, right, products);
        }
        simdgroup_barrier(mem_flags::mem_device);
        for (int i = 0; i < count_of_rows; ++i) {
          const float begin = params.has_bias ? float(bias[(row + i) * params.bias_step]) : 0.0f;
          add_products<width>(own.sums + (row + i) * 4 * width, own.products + i * width, product_step, y, begin, lane);
        }
      }
    }
    simdgroup_barrier(mem_flags::mem_device);
    for (int row = 0; row < params.rows; ++row) {
      write_results<T, width>(result + row * params.result_channel, own.sums + row * 4 * width, result_rows, first,
                              count, params, lane);
    }
  }
}

#define WINOGRAD(T, Rows, Columns)                                                                       \
  template [[host_name("winograd_" #Rows "_" #Columns "_" #T)]] kernel void winograd<T, Rows, Columns>(  \
      device T*, device const T*, device float*, device const T*, device float*,                         \
      constant WinogradParams&, uint, uint, uint);
#define WINOGRAD_OF_ROWS(T, Rows)                                                                        \
  WINOGRAD(T, Rows, 32) WINOGRAD(T, Rows, 48) WINOGRAD(T, Rows, 64) WINOGRAD(T, Rows, 80)                \
  WINOGRAD(T, Rows, 96) WINOGRAD(T, Rows, 112) WINOGRAD(T, Rows, 128)
#define WINOGRAD_OF(T)                                                                                   \
  template [[host_name("winograd_weights_" #T)]] kernel void winograd_weights<T>(                        \
      device float*, device const T*, constant WinogradWeights&, uint2);                                 \
  WINOGRAD_OF_ROWS(T, 32) WINOGRAD_OF_ROWS(T, 64)
WINOGRAD_OF(float) WINOGRAD_OF(half)
