// Convolutions by Winograd's minimal filtering, F(2 x 2, 3 x 3) (Lavin and Gray, arXiv 1509.09308): places of a 3 x 3
// weight with steps of 1. A tile of 2 x 2 results is made of 4 x 4 elements of an image, whose transform is multiplied
// by that of the weight, place by place: 16 products for 4 results, where sums one by one take 36. With * for place by
// place, and sums over channels,
//   result = A' (sum of (G weight G') * (B' image B)) A
//
// Tiles are counted through all rows of tiles of all images. A SIMD group has a block of them, a tile for each lane.
#include <metal_stdlib>

using namespace metal;

struct WinogradWeights {
  long row, channel, taps[2];  // strides
  int rows, channels;
};

struct WinogradParams {
  long gathered_image, gathered_channel, gathered_row;
  long result_image, result_channel, result_row;
  long bias_step;
  long memory;                      // elements of a threadgroup
  int rows, channels;               // of the result, and what is summed up
  int sizes[2], gathered_sizes[2];  // of images: down, across
  int first[2];                     // where the first tile begins
  int image_tiles[2];               // of an image: down, across
  int tiles, blocks;                // of all images
  int parts, part_rows;             // of the result, which threadgroups share
  int has_bias;
};

constant constexpr int places = 16;
constant constexpr int block_tiles = 32;
constant constexpr int apart = 16;              // elements between places, which so do not meet in a cache
constant constexpr int weight_rows = 8;         // that a SIMD group transforms
constant constexpr int sums_at_once = 8;        // rows of a product, which are in registers
constant constexpr int rows_at_once = 32;       // whose products lie in memory
constant constexpr int channels_at_once = 128;  // whose tiles of one place are in a core's first cache

// Elements of one place of all weights, apart so that places do not meet in a cache.
inline long place_of_weights(int rows, int channels) { return long(rows) * channels + apart; }

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

// Element 9 i + tap for lane i, of which each lane has every 32nd.
inline float every_ninth(thread const float (&all)[9], int tap, uint lane) {
  const int own = 9 * int(lane) + tap;
  float result = 0;
  for (int i = 0; i < 9; ++i) {
    const float moved = simd_shuffle(all[i], ushort(own % 32));
    if (own / 32 == i) result = moved;
  }
  return result;
}

// A SIMD group has 32 channels of some rows.
template <typename T>
kernel void winograd_weights(device float* transformed [[buffer(0)]], device const T* weights [[buffer(1)]],
                             constant WinogradWeights& params [[buffer(2)]],
                             uint2 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const int first = group.x * 32, count = min(32, params.channels - first);
  const int first_row = group.y * weight_rows, end_row = min(first_row + weight_rows, params.rows);
  const bool side_by_side = params.channel == 9 && params.taps[0] == 3 && params.taps[1] == 1;
  const long place = place_of_weights(params.rows, params.channels);
  weights += first * params.channel;
  for (int row = first_row; row < end_row; ++row) {
    device const T* from = weights + row * params.row;
    float weight[3][3];
    if (side_by_side) {
      float all[9];
      for (int i = 0; i < 9; ++i) all[i] = 32 * i + int(lane) < 9 * count ? float(from[32 * i + lane]) : 0.0f;
      for (int i = 0; i < 9; ++i) weight[i / 3][i % 3] = every_ninth(all, i, lane);
    } else {
      for (int i = 0; i < 9; ++i) {
        const long offset = lane * params.channel + i / 3 * params.taps[0] + i % 3 * params.taps[1];
        weight[i / 3][i % 3] = int(lane) < count ? float(from[offset]) : 0.0f;
      }
    }
    if (int(lane) < count) transform_weight(weight, transformed + long(row) * params.channels + first + lane, place);
  }
}

// The tiles of a block that lie in one row of tiles, and those behind it.
struct Part {
  int image, row;    // of tiles
  int first, count;  // tiles
  int done;          // those before it

  Part(constant WinogradParams& params, int tile, int all) : first(tile % params.image_tiles[1]), done(0) {
    const int line = tile / params.image_tiles[1];
    image = line / params.image_tiles[0];
    row = line % params.image_tiles[0];
    count = min(params.image_tiles[1] - first, all);
  }
  void go_on(constant WinogradParams& params, int all) {
    done += count;
    first = 0;
    count = min(params.image_tiles[1], all - done);
    if (++row == params.image_tiles[0]) {
      row = 0;
      ++image;
    }
  }
};

// Lane i's element 2 i + odd of 64, of which each lane has two, 32 apart.
inline float every_second(float left, float right, int odd, uint lane) {
  const ushort from = ushort(2 * lane % 32 + odd);
  const float low = simd_shuffle(left, from), high = simd_shuffle(right, from);
  return lane < 16 ? low : high;
}

// B' times a column.
inline void sum_down(thread const float (&column)[4], thread float (&sums)[4]) {
  sums[0] = column[0] - column[2];
  sums[1] = column[1] + column[2];
  sums[2] = column[2] - column[1];
  sums[3] = column[1] - column[3];
}

// Of 16 x (channels, tiles). A row of elements is read as it lies there and summed up down the image before each lane
// takes those of its tile; the last two of a whole block are the same for all lanes.
template <typename T>
inline void transform_tiles(device float* tiles, long place, device const T* gathered, thread const Part& part,
                            constant WinogradParams& params, uint lane) {
  const int height = params.gathered_sizes[0], width = params.gathered_sizes[1];
  const int y = 2 * part.row + params.first[0], x = 2 * part.first + params.first[1], own_x = x + int(lane);
  const bool is_left = own_x >= 0 && own_x < width, is_right = own_x + 32 >= 0 && own_x + 32 < width;
  const bool is_last[2] = {x + 64 < width, x + 65 < width};
  const bool is_tile = int(lane) < part.count;
  bool is_row[4];
  long rows[4];
  for (int i = 0; i < 4; ++i) {
    is_row[i] = y + i >= 0 && y + i < height;
    rows[i] = clamp(y + i, 0, height - 1) * params.gathered_row;
  }
  device const T* from = gathered + part.image * params.gathered_image + x;
  device float* to = tiles + part.done + lane;
  for (int channel = 0; channel < params.channels; ++channel, from += params.gathered_channel, to += block_tiles) {
    float left[4], right[4], last[2][4];
    for (int i = 0; i < 4; ++i) {
      device const T* row = from + rows[i];
      left[i] = is_row[i] && is_left ? float(row[lane]) : 0.0f;
      right[i] = is_row[i] && is_right ? float(row[32 + lane]) : 0.0f;
      for (int j = 0; j < 2; ++j) last[j][i] = is_row[i] && is_last[j] ? float(row[64 + j]) : 0.0f;
    }
    float left_sums[4], right_sums[4], last_sums[2][4];
    sum_down(left, left_sums);
    sum_down(right, right_sums);
    for (int j = 0; j < 2; ++j) sum_down(last[j], last_sums[j]);
    for (int i = 0; i < 4; ++i) {
      const float first = every_second(left_sums[i], right_sums[i], 0, lane);
      const float second = every_second(left_sums[i], right_sums[i], 1, lane);
      float third = simd_shuffle_down(first, 1), fourth = simd_shuffle_down(second, 1);
      if (lane == 31) {
        third = last_sums[0][i];
        fourth = last_sums[1][i];
      }
      if (is_tile) {
        to[(4 * i + 0) * place] = first - third;
        to[(4 * i + 1) * place] = second + third;
        to[(4 * i + 2) * place] = third - second;
        to[(4 * i + 3) * place] = second - fourth;
      }
    }
  }
}

// Of one place: (rows, tiles) from (rows, channels) and (channels, tiles). Products come in blocks of rows; where there
// are fewer the last one is taken again.
inline void multiply(device float* products, device const float* weights, device const float* tiles, int rows,
                     int channels, uint lane) {
  for (int begin = 0; begin < channels; begin += channels_at_once) {
    const int count = min(channels_at_once, channels - begin);
    for (int row = 0; row < rows; row += sums_at_once) {
      device float* to = products + row * block_tiles + lane;
      device const float* weight = weights + row * long(channels) + begin;
      device const float* tile = tiles + begin * block_tiles + lane;
      long steps[sums_at_once];
      float sums[sums_at_once];
      for (int i = 0; i < sums_at_once; ++i) {
        steps[i] = min(i, rows - row - 1) * long(channels);
        sums[i] = begin == 0 ? 0.0f : to[i * block_tiles];
      }
      for (int channel = 0; channel < count; ++channel, tile += block_tiles) {
        for (int i = 0; i < sums_at_once; ++i) sums[i] = fma(weight[steps[i] + channel], *tile, sums[i]);
      }
      for (int i = 0; i < sums_at_once; ++i) to[i * block_tiles] = sums[i];
    }
  }
}

// Two results of each lane.
template <typename T>
inline void write_row(device T* row, float left, float right, int count, uint lane) {
  const ushort from = ushort(lane / 2);
  const float low_left = simd_shuffle(left, from), low_right = simd_shuffle(right, from);
  const float high_left = simd_shuffle(left, ushort(from + 16)), high_right = simd_shuffle(right, ushort(from + 16));
  if (int(lane) < count) row[lane] = T(lane % 2 == 0 ? low_left : low_right);
  if (int(lane) + 32 < count) row[lane + 32] = T(lane % 2 == 0 ? high_left : high_right);
}

// A' times products times A: of `rows` rows from `first_row` on.
template <typename T>
inline void write_results(device T* result, device const float* products, long place, device const T* bias,
                          int first_row, int rows, thread const Part& part, constant WinogradParams& params,
                          uint lane) {
  const int y = 2 * part.row, x = 2 * part.first, count = min(2 * part.count, params.sizes[1] - x);
  const bool has_second = y + 1 < params.sizes[0];
  device T* to = result + part.image * params.result_image + y * params.result_row + x;
  device const float* from = products + part.done + lane;
  for (int row = 0; row < rows; ++row, from += block_tiles) {
    const float begin = params.has_bias ? float(bias[(first_row + row) * params.bias_step]) : 0.0f;
    float sums[2][4];
    for (int i = 0; i < 4; ++i) {
      const float second = from[(4 + i) * place], third = from[(8 + i) * place];
      sums[0][i] = from[i * place] + second + third;
      sums[1][i] = second - third - from[(12 + i) * place];
    }
    device T* own = to + (first_row + row) * params.result_channel;
    for (int i = 0; i < 2; ++i) {
      if (i == 1 && !has_second) break;
      const float middle = sums[i][1] + begin;
      write_row(own + i * params.result_row, sums[i][0] + middle + sums[i][2], middle - sums[i][2] - sums[i][3], count,
                lane);
    }
  }
}

// A SIMD group takes some blocks of tiles through all steps, in memory of its own that stays in a cache.
template <typename T>
kernel void winograd(device T* result [[buffer(0)]], device const T* gathered [[buffer(1)]],
                     device const float* weights [[buffer(2)]], device const T* bias [[buffer(3)]],
                     device float* memory [[buffer(4)]], constant WinogradParams& params [[buffer(5)]],
                     uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
  const int channels = params.channels;
  const long place = long(channels) * block_tiles + apart, product_place = rows_at_once * block_tiles + apart;
  const long weight_place = place_of_weights(params.rows, channels);
  device float* tiles = memory + group * params.memory;
  device float* products = tiles + places * place;
  for (int item = group; item < params.blocks * params.parts; item += groups) {
    const int first = item / params.parts * block_tiles, count = min(block_tiles, params.tiles - first);
    for (Part part(params, first, count); part.done < count; part.go_on(params, count)) {
      transform_tiles(tiles, place, gathered, part, params, lane);
    }
    simdgroup_barrier(mem_flags::mem_device);
    const int first_row = item % params.parts * params.part_rows;
    const int end_row = min(params.rows, first_row + params.part_rows);
    for (int row = first_row; row < end_row; row += rows_at_once) {
      const int rows = min(rows_at_once, end_row - row);
      for (int i = 0; i < places; ++i) {
        multiply(products + i * product_place, weights + i * weight_place + row * long(channels), tiles + i * place,
                 rows, channels, lane);
      }
      simdgroup_barrier(mem_flags::mem_device);
      for (Part part(params, first, count); part.done < count; part.go_on(params, count)) {
        write_results(result, products, product_place, bias, row, rows, part, params, lane);
      }
      simdgroup_barrier(mem_flags::mem_device);
    }
  }
}

#define WINOGRAD(T)                                                                                             \
  template [[host_name("winograd_weights_" #T)]] kernel void winograd_weights<T>(                               \
      device float*, device const T*, constant WinogradWeights&, uint2, uint);                                  \
  template [[host_name("winograd_" #T)]] kernel void winograd<T>(device T*, device const T*, device const float*, \
                                                                 device const T*, device float*,                \
                                                                 constant WinogradParams&, uint, uint, uint);
WINOGRAD(float) WINOGRAD(half)
