// Operations on tiles: products on the tensor cores of compute capability 9.0, of floats the exact chains of fused
// multiply-adds, and what threads hold from and to memory. Code for the GPU, which is kept in the library as LLVM's
// bitcode and becomes part of kernels (passes/lower_tiles.h). What is constant there is constant here: then loops are
// unrolled, and sums are registers.
//
// Of a product the threads of a threadgroup copy some of k, 128 bytes, of both operands to threadgroup memory while
// what was copied before is multiplied. There, rows of 128 bytes of 16-byte pieces lie so that no two pieces of a
// column are in the same banks: piece p of row r is at p ^ r % 8, as the tensor cores have it ("128-byte swizzle").
#include "instructions.h"

// What is known when the kernel is compiled. Of warpgroups, 128 threads each, `down` x `across` divide the product.
struct Plan {
  u32 m, n, threads, down, across, stages;
  bool accumulates;
};

// How threads hold the result: simdgroups have blocks of `down` x `across` fragments each, in rows of `blocks_across`.
// in_order_of_matrices: lanes are numbered as lanes/lane_order.h says.
struct Holding {
  u32 fragment, down, across, blocks_across, simdgroups;  // fragment 0: it is in memory
  bool in_order_of_matrices;
};

// Of an operand or result: elements outside of its rows and columns are zero and are not written. Strides are elements.
struct Tile {
  u64 address;
  i64 columns, rows, across, down;
};

// The launch's, in which the first bytes are for this.
extern "C" GPU_SHARED char metalloid_threadgroup_memory[];

namespace {

constexpr u32 row_bytes = 128;  // of a chunk: 64 elements of 16 bits, 32 floats; as much of k is one stage
constexpr u32 piece_bytes = 16;
constexpr u32 pieces_of_row = 8;

GPU_INLINE u32 bytes_of(Element element) { return element == Element::f32 ? 4 : 2; }

GPU_INLINE u32 place_in_chunk(u32 row, u32 piece) { return row * row_bytes + ((piece ^ (row & 7)) << 4); }

// `outer` rows in memory of `inner` elements: chunks of 128 bytes, one behind the other, have all rows each.
struct Shape {
  u32 outer, inner, element_bytes;
  static GPU_INLINE u32 round(u32 size, u32 to) { return (size + to - 1) / to * to; }
  GPU_INLINE u32 chunk_elements() const { return row_bytes / element_bytes; }
  GPU_INLINE u32 piece_elements() const { return piece_bytes / element_bytes; }
  GPU_INLINE u32 chunks() const { return (inner + chunk_elements() - 1) / chunk_elements(); }
  GPU_INLINE u32 bytes() const { return chunks() * round(outer, 8) * row_bytes; }
};

GPU_INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }

// Elements 0 to `count` from the address on, `across` apart; zeros behind them.
GPU_INLINE uint4 gather(u64 address, i64 across, i64 count, u32 element_bytes) {
  u32 words[4];
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    words[i] = 0;
    if (element_bytes == 4) {
      if (i < count) words[i] = *(const GPU_GLOBAL u32*)(address + i * across * 4);
      continue;
    }
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      const i64 at = 2 * i + half;
      if (at < count) words[i] |= u32(*(const GPU_GLOBAL u16*)(address + at * across * 2)) << 16 * half;
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// One operand's way to threadgroup memory. is_straight: its pieces are 16 bytes at aligned addresses.
template <bool is_straight>
GPU_INLINE void copy_tile(u32 to, const Tile& tile, i64 first_row, i64 first_column, const Shape& shape, u32 threads) {
  const u32 thread = thread_index();
  const u32 element_bytes = shape.element_bytes, chunk_elements = shape.chunk_elements();
  const u32 piece_elements = shape.piece_elements();
  const u32 rows_at_once = threads / pieces_of_row;
  const u32 piece = thread % pieces_of_row, row_of_thread = thread / pieces_of_row;
  const u32 rows = shape.outer * shape.chunks();
  const bool is_inside = first_row + shape.outer <= tile.rows && first_column + shape.inner <= tile.columns;
  const auto is_wanted = [&](u32 chunk) { return chunk * chunk_elements + piece * piece_elements < shape.inner; };
  const auto place = [&](u32 first, u32& row, u32& chunk) {
    // Known parts stay apart, so that they are constants.
    if (shape.outer % rows_at_once == 0) {
      row = first % shape.outer + row_of_thread;
      chunk = first / shape.outer;
    } else {
      row = (first + row_of_thread) % shape.outer;
      chunk = (first + row_of_thread) / shape.outer;
    }
  };
  const u32 chunk_bytes = Shape::round(shape.outer, 8) * row_bytes;
  if (is_straight && is_inside && rows % rows_at_once == 0) {
    const u64 base = tile.address +
                     ((first_row + row_of_thread) * tile.down + first_column + piece * piece_elements) * element_bytes;
#pragma unroll
    for (u32 first = 0; first < rows; first += rows_at_once) {
      u32 row, chunk;
      place(first, row, chunk);
      const i64 offset = i64(row - row_of_thread) * tile.down + chunk * chunk_elements;
      if (!is_wanted(chunk)) continue;
      copy_later(to + chunk * chunk_bytes + place_in_chunk(row, piece),
                 (const GPU_GLOBAL void*)(base + offset * element_bytes));
    }
    return;
  }
#pragma clang loop unroll(disable)
  for (u32 first = 0; first < rows; first += rows_at_once) {
    u32 row, chunk;
    place(first, row, chunk);
    if (first + row_of_thread >= rows || !is_wanted(chunk)) continue;
    const i64 y = first_row + row, x = first_column + chunk * chunk_elements + piece * piece_elements;
    i64 count = y < tile.rows ? least(tile.columns - x, piece_elements) : 0;
    if (count < 0) count = 0;
    const u32 target = to + chunk * chunk_bytes + place_in_chunk(row, piece);
    const u64 source = count > 0 ? tile.address + (y * tile.down + x * tile.across) * element_bytes : tile.address;
    if (is_straight) {
      copy_later(target, (const GPU_GLOBAL void*)source, u32(count) * element_bytes);
    } else {
      store_shared(target, gather(source, tile.across, count, element_bytes));
    }
  }
}

// Where an operand begins in threadgroup memory, and how its parts follow each other.
GPU_INLINE u64 describe(u32 address, u32 chunk_bytes) {
  constexpr u64 swizzle_128 = u64(1) << 62;
  constexpr u64 eight_rows = 8 * row_bytes;
  return swizzle_128 | (eight_rows >> 4) << 32 | u64(chunk_bytes >> 4) << 16 | (address >> 4 & 0x3fff);
}

struct Product {
  const Plan& plan;
  const Operands operands;
  const Tile &left, &right;
  const i64 k;
  const u32 scratch;

  GPU_INLINE u32 element_bytes() const { return bytes_of(operands.element); }
  GPU_INLINE u32 depth() const { return row_bytes / element_bytes(); }
  GPU_INLINE Shape shape(u32 size, bool lies) const {
    return {lies ? depth() : size, lies ? size : depth(), element_bytes()};
  }
  GPU_INLINE Shape left_shape() const { return shape(plan.m, operands.left_lies); }
  GPU_INLINE Shape right_shape() const { return shape(plan.n, operands.right_lies); }
  GPU_INLINE u32 left_bytes() const { return left_shape().bytes(); }
  GPU_INLINE u32 stage_bytes() const { return left_bytes() + right_shape().bytes(); }

  // Of the warpgroup's part.
  GPU_INLINE u32 blocks() const { return plan.m / 64 / plan.down; }
  GPU_INLINE u32 columns() const { return plan.n / plan.across; }
  GPU_INLINE u32 warpgroup() const { return thread_index() / 128; }
  GPU_INLINE u32 first_row() const { return warpgroup() / plan.across * blocks() * 64; }
  GPU_INLINE u32 first_column() const { return warpgroup() % plan.across * columns(); }

  template <bool is_straight>
  GPU_INLINE void copy(u32 stage, i64 at) const {
    const u32 to = scratch + stage * stage_bytes();
    const auto copy_operand = [&](u32 place, const Tile& tile, bool lies, const Shape& shape) {
      copy_tile<is_straight>(place, tile, lies ? at : 0, lies ? 0 : at, shape, plan.threads);
    };
    copy_operand(to, left, operands.left_lies, left_shape());
    copy_operand(to + left_bytes(), right, operands.right_lies, right_shape());
  }

  template <u32 n>
  GPU_INLINE void multiply_part(float*& sums, u64 left_at, u64 right_at, u32& column) const {
    if ((columns() & n) == 0) return;
    // Columns that lie: 64 of them are a chunk. Others are rows.
    const u32 offset =
        operands.right_lies ? column / 64 * depth() * row_bytes + column % 64 * element_bytes() : column * row_bytes;
    add_product<n>(sums, left_at, right_at + (offset >> 4), operands);
    sums += n / 2;
    column += n;
  }

  GPU_INLINE void multiply(u32 stage, float* sums) const {
    const u32 at = scratch + stage * stage_bytes();
    const u32 lying_chunk = depth() * row_bytes;
    const u64 left_at = describe(at + first_row() * row_bytes, operands.left_lies ? lying_chunk : 16);
    const u32 right_offset = first_column() * row_bytes;
    const u64 right_at = describe(at + left_bytes() + right_offset, operands.right_lies ? lying_chunk : 16);
    begin_products();
#pragma unroll
    for (u32 step = 0; step < depth() / 16; ++step) {
      const u64 left_step = step * (operands.left_lies ? 16 * row_bytes : 16 * element_bytes()) >> 4;
      const u64 right_step = step * (operands.right_lies ? 16 * row_bytes : 16 * element_bytes()) >> 4;
      float* own = sums;
#pragma unroll
      for (u32 block = 0; block < blocks(); ++block) {
        u32 column = 0;
        const u64 left_block = left_at + left_step + (block * 64 * row_bytes >> 4);
        multiply_part<256>(own, left_block, right_at + right_step, column);
        multiply_part<128>(own, left_block, right_at + right_step, column);
        multiply_part<64>(own, left_block, right_at + right_step, column);
        multiply_part<32>(own, left_block, right_at + right_step, column);
        multiply_part<16>(own, left_block, right_at + right_step, column);
      }
    }
    close_products();
  }

  // What `count` neighbours along k, or across, are of an operand in threadgroup memory.
  template <u32 count>
  static GPU_INLINE void read(u32 operand, const Shape& shape, u32 outer, u32 inner, float (&values)[count]) {
    const u32 chunk = inner / shape.chunk_elements(), piece = inner % shape.chunk_elements() / shape.piece_elements();
    const u32 chunk_bytes = Shape::round(shape.outer, 8) * row_bytes;
    load_shared(operand + chunk * chunk_bytes + place_in_chunk(outer, piece) + inner % shape.piece_elements() * 4,
                values);
  }

  // As many of k as a piece of 16 bytes has, at a time; of what threads of tensor cores have sums of.
  GPU_INLINE void multiply_floats(u32 stage, float* sums) const {
    constexpr u32 at_once = 4;
    const u32 left_at = scratch + stage * stage_bytes(), right_at = left_at + left_bytes();
    const u32 lane = thread_index() % 32, warp = thread_index() / 32 % 4;
    const u32 row = first_row() + warp * 16 + lane / 4, column = first_column() + lane % 4 * 2;
    const u32 rows = blocks() * 2;
#pragma unroll
    for (u32 first = 0; first < depth(); first += at_once) {
      float left[16][at_once];
#pragma unroll
      for (u32 i = 0; i < rows; ++i) {
        const u32 at = row + i / 2 * 64 + i % 2 * 8;
        if (!operands.left_lies) {
          read(left_at, left_shape(), at, first, left[i]);
          continue;
        }
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
          float one[1];
          read(left_at, left_shape(), first + k, at, one);
          left[i][k] = one[0];
        }
      }
#pragma unroll
      for (u32 across = 0; across < columns(); across += 8) {
        float right[2][at_once];
        if (operands.right_lies) {
#pragma unroll
          for (u32 k = 0; k < at_once; ++k) {
            float pair[2];
            read(right_at, right_shape(), first + k, column + across, pair);
            right[0][k] = pair[0];
            right[1][k] = pair[1];
          }
        } else {
          read(right_at, right_shape(), column + across, first, right[0]);
          read(right_at, right_shape(), column + across + 1, first, right[1]);
        }
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
#pragma unroll
          for (u32 i = 0; i < rows; ++i) {
            float* own = sums + (i / 2 * columns() + across) / 2 + i % 2 * 2;
            own[0] = __builtin_fmaf(left[i][k], right[0][k], own[0]);
            own[1] = __builtin_fmaf(left[i][k], right[1][k], own[1]);
          }
        }
      }
    }
  }

  // A stage is filled again once the products of the turn before the last have read it.
  template <bool is_straight>
  GPU_INLINE void run(float* sums) const {
    const bool is_of_floats = operands.element == Element::f32;
    const i64 turns = (k + depth() - 1) / depth();
    const u32 ahead = plan.stages - 2;
    for (u32 turn = 0; turn < ahead; ++turn) {
      if (turn < turns) copy<is_straight>(turn, i64(turn) * depth());
      close_copies();
    }
    u32 stage = 0, next = ahead;
#pragma clang loop unroll(disable)
    for (i64 turn = 0; turn < turns; ++turn) {
      if (ahead == 1) wait_for_copies<0>();
      if (ahead == 2) wait_for_copies<1>();
      if (ahead == 3) wait_for_copies<2>();
      if (ahead == 4) wait_for_copies<3>();
      if (!is_of_floats) show_to_tensor_cores();
      synchronise();
      if (!is_of_floats) multiply(stage, sums);
      if (turn + ahead < turns) copy<is_straight>(next, (turn + ahead) * depth());
      close_copies();
      if (is_of_floats) {
        multiply_floats(stage, sums);
      } else {
        wait_for_products<1>();
      }
      stage = stage + 1 == plan.stages ? 0 : stage + 1;
      next = next + 1 == plan.stages ? 0 : next + 1;
    }
    if (!is_of_floats) wait_for_products<0>();
    wait_for_copies<0>();
  }

  // For each pair of neighbours of a row that the thread has a sum of: f(sums, row, column).
  template <typename Function>
  GPU_INLINE void for_pairs(float* sums, Function&& f) const {
    const u32 lane = thread_index() % 32, warp = thread_index() / 32 % 4;
    const u32 row = first_row() + warp * 16 + lane / 4, column = first_column() + lane % 4 * 2;
#pragma unroll
    for (u32 block = 0; block < blocks(); ++block) {
#pragma unroll
      for (u32 across = 0; across < columns(); across += 8) {
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
          f(sums + (block * columns() + across) / 2 + 2 * half, row + block * 64 + half * 8, column + across);
        }
      }
    }
  }
};

// An element in memory; addresses are of its bytes.
struct Memory {
  const Element element;
  GPU_INLINE u32 bytes() const { return bytes_of(element); }
  template <typename Address>
  GPU_INLINE float read(Address address) const {
    if (element == Element::f16) return float(*as<_Float16>(address));
    if (element == Element::bf16) return float(*as<__bf16>(address));
    return *as<float>(address);
  }
  template <typename Address>
  GPU_INLINE void write(Address address, float value) const {
    if (element == Element::f16) {
      *as<_Float16>(address) = _Float16(value);
    } else if (element == Element::bf16) {
      *as<__bf16>(address) = __bf16(value);
    } else {
      *as<float>(address) = value;
    }
  }
  // At an address that is a multiple of their bytes.
  GPU_INLINE void write_pair(GPU_GLOBAL char* address, float x, float y) const {
    if (element == Element::f16) {
      *as<Pair<_Float16>>(address) = Pair<_Float16>{_Float16(x), _Float16(y)};
    } else if (element == Element::bf16) {
      *as<Pair<__bf16>>(address) = Pair<__bf16>{__bf16(x), __bf16(y)};
    } else {
      *as<Pair<float>>(address) = Pair<float>{x, y};
    }
  }

 private:
  template <typename T>
  using Pair = T __attribute__((ext_vector_type(2)));
  template <typename T>
  static GPU_INLINE GPU_GLOBAL T* as(GPU_GLOBAL char* address) {
    return (GPU_GLOBAL T*)address;
  }
  template <typename T>
  static GPU_INLINE T* as(char* address) {
    return (T*)address;
  }
};

GPU_INLINE bool is_straight(const Tile& tile, u32 element_bytes) {
  return tile.across == 1 && tile.address % 16 == 0 && tile.down * element_bytes % 16 == 0;
}

// Sums come from and go to a tile in memory.
struct MemoryResult {
  const Tile tile;
  const Memory memory;

  GPU_INLINE GPU_GLOBAL char* at(u32 row, u32 column) const {
    return (GPU_GLOBAL char*)(tile.address + (i64(row) * tile.down + i64(column) * tile.across) * memory.bytes());
  }
  GPU_INLINE bool has(u32 row, u32 column) const { return row < tile.rows && column < tile.columns; }
  GPU_INLINE bool has_whole(u32 rows, u32 columns) const { return rows <= tile.rows && columns <= tile.columns; }
  // Of elements side by side that begin in an even column.
  GPU_INLINE bool has_aligned_pairs() const {
    return tile.across == 1 && tile.address % (2 * memory.bytes()) == 0 && tile.down % 2 == 0;
  }

  GPU_INLINE void read(const Product& product, float* sums) const {
    product.for_pairs(sums, [&](float* pair, u32 row, u32 column) {
#pragma unroll
      for (u32 i = 0; i < 2; ++i) pair[i] = has(row, column + i) ? memory.read(at(row, column + i)) : 0;
    });
  }
  GPU_INLINE void write(const Product& product, float* sums) const {
    if (has_whole(product.plan.m, product.plan.n) && has_aligned_pairs()) {
      product.for_pairs(
          sums, [&](float* pair, u32 row, u32 column) { memory.write_pair(at(row, column), pair[0], pair[1]); });
      return;
    }
    product.for_pairs(sums, [&](float* pair, u32 row, u32 column) {
#pragma unroll
      for (u32 i = 0; i < 2; ++i) {
        if (has(row, column + i)) memory.write(at(row, column + i), pair[i]);
      }
    });
  }
};

// What a thread holds.
struct Held {
  char* held;
  const Holding& holding;
  const Memory memory;

  // For each pair of neighbours of a row that the thread holds: f(elements, row, column), as operations.def lays them
  // out.
  template <typename Function>
  GPU_INLINE void for_pairs(Function&& f) const {
    const u32 fragment = holding.fragment, width = fragment / 4, halves = fragment / 8;
    const u32 lane = thread_index() % 32, simdgroup = holding.simdgroups == 1 ? 0 : thread_index() / 32;
    const u32 lane_row = holding.in_order_of_matrices ? lane / 4 : lane / 16 * 4 + lane / 2 % 4;
    const u32 lane_pair = holding.in_order_of_matrices ? lane % 4 : lane / 8 % 2 * 2 + lane % 2;
    const u32 first_row = simdgroup / holding.blocks_across * holding.down * fragment + lane_row;
    const u32 first_column = simdgroup % holding.blocks_across * holding.across * fragment + lane_pair * width;
    char* elements = held;
#pragma unroll
    for (u32 down = 0; down < holding.down; ++down) {
#pragma unroll
      for (u32 across = 0; across < holding.across; ++across) {
#pragma unroll
        for (u32 half = 0; half < halves; ++half) {
#pragma unroll
          for (u32 pair = 0; pair < width; pair += 2) {
            f(elements, first_row + down * fragment + half * 8, first_column + across * fragment + pair);
            elements += 2 * memory.bytes();
          }
        }
      }
    }
  }
};

// Sums come from and go to what the threads hold, by way of threadgroup memory: tensor cores give other threads other
// elements than Metal does.
struct HeldResult : Held {
  // Rows of sums, 8 words longer than the tile's for the sake of banks.
  static GPU_INLINE u32 place(const Product& product, u32 row, u32 column) {
    return product.scratch + (row * (product.plan.n + 8) + column) * sizeof(float);
  }
  // Of blocks that reach beyond the tile.
  static GPU_INLINE bool has(const Product& product, u32 row, u32 column) {
    return row < product.plan.m && column < product.plan.n;
  }

  GPU_INLINE void read(const Product& product, float* sums) const {
    Held::for_pairs([&](char* elements, u32 row, u32 column) {
      if (!has(product, row, column)) return;
      store_shared(place(product, row, column), memory.read(elements), memory.read(elements + memory.bytes()));
    });
    synchronise();
    product.for_pairs(
        sums, [&](float* pair, u32 row, u32 column) { load_shared(place(product, row, column), pair[0], pair[1]); });
    synchronise();
  }
  GPU_INLINE void write(const Product& product, float* sums) const {
    synchronise();  // tensor cores have read the operands
    product.for_pairs(
        sums, [&](float* pair, u32 row, u32 column) { store_shared(place(product, row, column), pair[0], pair[1]); });
    synchronise();
    Held::for_pairs([&](char* elements, u32 row, u32 column) {
      if (!has(product, row, column)) return;
      float x, y;
      load_shared(place(product, row, column), x, y);
      memory.write(elements, x);
      memory.write(elements + memory.bytes(), y);
    });
  }
};

template <typename Result>
GPU_INLINE void multiply_onto(const Product& product, const Result& result, bool straight) {
  float sums[128];
  if (product.plan.accumulates) {
    result.read(product, sums);
  } else {
    product.for_pairs(sums, [&](float* pair, u32, u32) { pair[0] = pair[1] = 0; });
  }
  if (straight) {
    product.template run<true>(sums);
  } else {
    product.template run<false>(sums);
  }
  result.write(product, sums);
}

}  // namespace

// Operands are those of is_tile_operation (passes/lower_tiles.cpp). `result`: an Element.
extern "C" void metalloid_multiply_tiles(u64 left_address, i64 left_columns, i64 left_rows, i64 left_across,
                                         i64 left_down, u64 right_address, i64 right_columns, i64 right_rows,
                                         i64 right_across, i64 right_down, u64 to_address, i64 to_columns, i64 to_rows,
                                         i64 to_across, i64 to_down, char* held, u32 fragment, u32 fragments_down,
                                         u32 fragments_across, u32 blocks_across, u32 simdgroups,
                                         bool in_order_of_matrices, u32 element, bool left_lies, bool right_lies,
                                         u32 result, u32 k, bool accumulates, u32 m, u32 n, u32 threads, u32 down,
                                         u32 across, u32 stages) {
  const Plan plan{m, n, threads, down, across, stages, accumulates};
  // Threads that did wrong have ended, and the dispatch fails anyway.
  if (count_threads() != plan.threads) return;
  // Of tensors that have more of k than the product.
  const i64 of_k = i32(k);
  const Tile left{left_address, left_lies ? left_columns : least(left_columns, of_k),
                  left_lies ? least(left_rows, of_k) : left_rows, left_across, left_down};
  const Tile right{right_address, right_lies ? right_columns : least(right_columns, of_k),
                   right_lies ? least(right_rows, of_k) : right_rows, right_across, right_down};
  const u32 scratch = (u32(u64((GPU_SHARED char*)metalloid_threadgroup_memory)) + 1023) / 1024 * 1024;
  const Product product{plan, {Element(element), left_lies, right_lies}, left, right, of_k, scratch};
  const u32 bytes = product.element_bytes();
  const bool straight = is_straight(left, bytes) && is_straight(right, bytes);
  if (fragment == 0) {
    const Tile to{to_address, to_columns, to_rows, to_across, to_down};
    multiply_onto(product, MemoryResult{to, {Element(result)}}, straight);
  } else {
    const Holding holding{fragment, fragments_down, fragments_across, blocks_across, simdgroups, in_order_of_matrices};
    multiply_onto(product, HeldResult{{held, holding, {Element(result)}}}, straight);
  }
}

// Between what threads hold, `m` x `n` elements, and memory.
extern "C" void metalloid_move_tile(char* held, u32 fragment, u32 fragments_down, u32 fragments_across,
                                    u32 blocks_across, u32 simdgroups, bool in_order_of_matrices, u32 held_element,
                                    u32 m, u32 n, u64 address, i64 columns, i64 rows, i64 across, i64 down, u32 element,
                                    bool is_load) {
  const Holding holding{fragment, fragments_down, fragments_across, blocks_across, simdgroups, in_order_of_matrices};
  const Held own{held, holding, {Element(held_element)}};
  const u32 bytes = own.memory.bytes();
  const MemoryResult other{{address, columns, rows, across, down}, {Element(element)}};
  const bool in_pairs = other.has_whole(m, n) && other.has_aligned_pairs();
  own.for_pairs([&](char* elements, u32 row, u32 column) {
    if (row >= m || column >= n) return;
    const bool has_second = column + 1 < n;
    if (is_load) {
      own.memory.write(elements, other.has(row, column) ? other.memory.read(other.at(row, column)) : 0);
      if (!has_second) return;
      const bool has = other.has(row, column + 1);
      own.memory.write(elements + bytes, has ? other.memory.read(other.at(row, column + 1)) : 0);
    } else if (in_pairs && has_second) {
      other.memory.write_pair(other.at(row, column), own.memory.read(elements), own.memory.read(elements + bytes));
    } else {
      if (other.has(row, column)) other.memory.write(other.at(row, column), own.memory.read(elements));
      if (!has_second || !other.has(row, column + 1)) return;
      other.memory.write(other.at(row, column + 1), own.memory.read(elements + bytes));
    }
  });
}
