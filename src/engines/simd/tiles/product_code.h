// multiply: a product of tiles, for the instructions of the file that includes this.
//
//   for blocks of the destination, of at most 128 x 128:
//     sums = destination or 0
//     for k, at most 128 words at a time:
//       left  -> rows of words, one behind the other
//       right -> two vectors of words for each word of k, side by side
//       sums += left * right, by as many rows and two vectors as registers hold; meanwhile, what comes next is brought
//         into the cache
//     destination = sums
//
// An element's products are added up in the order of k. Files are compiled for processors that the library need not
// run on: nothing in them is shared with others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engines/simd/tiles/ahead.h"
#include "engines/simd/tiles/held_code.h"
#include "engines/simd/tiles/panel_code.h"

namespace metalloid::engines::simd {
namespace {

// A panel of `Rows` rows of the block, times so many vectors of columns.
template <typename Steps, int Rows, int Vectors>
void multiply_panel(const std::uint32_t* left, const std::uint32_t* right, std::uint32_t* sums, int steps,
                    Ahead& next_left, Ahead& next_right) {
  Words sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; ++j) sum[i][j] = load(sums + i * ProductScratch::columns + j * width);
  }
  for (int k = 0; k < steps;) {
    constexpr int steps_and_lines = 4;  // a line in as many cycles as one takes from the third level of caches
    next_left.ask(steps_and_lines);
    next_right.ask(steps_and_lines);
    const int end = std::min(k + steps_and_lines, steps);
    for (; k < end; ++k) {
      Words row[Vectors];
#pragma GCC unroll 2
      for (int j = 0; j < Vectors; ++j) row[j] = load(right + k * pair + j * width);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const Words factor = all(left[i * ProductScratch::left_row + k]);
#pragma GCC unroll 2
        for (int j = 0; j < Vectors; ++j) sum[i][j] = Steps::add(sum[i][j], factor, row[j]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; ++j) store(sums + i * ProductScratch::columns + j * width, sum[i][j]);
  }
}

template <typename Steps, int Vectors, int Rows = most_rows>
void multiply_rows(int rows, const std::uint32_t* left, const std::uint32_t* right, std::uint32_t* sums, int steps,
                   Ahead& next_left, Ahead& next_right) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return multiply_panel<Steps, Rows, Vectors>(left, right, sums, steps, next_left, next_right);
    multiply_rows<Steps, Vectors, Rows - 1>(rows, left, right, sums, steps, next_left, next_right);
  }
}

// Left and right operands of one kind of steps. `left_off` is what elements of `Left` are more than they should be,
// `right_off` what those of `Right` are less.
template <typename Steps, typename Left, typename Right, int left_off = 0, int right_off = 0>
class Blocks {
 public:
  Blocks(const TileProduct& product, ProductScratch& scratch) : product_(product), scratch_(scratch) {}

  void run() {
    for (std::int64_t row = 0; row < product_.m; row += ProductScratch::rows) {
      for (std::int64_t column = 0; column < product_.n; column += ProductScratch::columns) {
        rows_ = static_cast<int>(std::min<std::int64_t>(ProductScratch::rows, product_.m - row));
        columns_ = static_cast<int>(std::min<std::int64_t>(ProductScratch::columns, product_.n - column));
        wide_ = (columns_ + pair - 1) / pair * pair;
        start(row, column);
        // Nothing has asked for the first part, which is small if others follow.
        constexpr int most = ProductScratch::depth * elements;
        int part = product_.k > most ? most / 4 : most;
        for (std::int64_t k = 0; k < product_.k; k += steps_) {
          steps_ = static_cast<int>(std::min<std::int64_t>(part, product_.k - k));
          words_ = (steps_ + elements - 1) / elements;
          part = std::min(2 * part, most);
          read_left(row, k);
          read_right(column, k);
          look_ahead(row, column, k + steps_, part);
          add();
        }
        finish(row, column);
      }
    }
  }

 private:
  using Sum = typename Steps::Sum;
  static constexpr int elements = Steps::elements;

  // Of a row of the destination, how many columns are there.
  int there(std::int64_t row, std::int64_t column) const {
    if (row >= product_.destination.rows) return 0;
    return static_cast<int>(std::clamp<std::int64_t>(product_.destination.columns - column, 0, columns_));
  }
  std::int64_t place(std::int64_t row, std::int64_t column) const {
    const TileMatrix& tile = product_.destination;
    return tile.first + row * tile.down + column * tile.across;
  }
  // Whether elements are what sums are, side by side.
  bool is_as_it_is() const {
    const TileMatrix& tile = product_.destination;
    return tile.element == (std::is_same_v<Sum, float> ? TileElement::f32 : TileElement::i32) && tile.across == 1;
  }
  std::uint32_t* sums(int row) { return scratch_.sums + row * ProductScratch::columns; }

  static constexpr bool takes_held = std::is_same_v<Steps, FloatSteps>;
  HeldRows rows_of(std::uint32_t* words, std::int64_t row) {
    return {reinterpret_cast<std::byte*>(words), row * static_cast<std::int64_t>(sizeof(*words))};
  }

  void start(std::int64_t row, std::int64_t column) {
    if constexpr (takes_held) {
      if (product_.held_destination && product_.accumulates) {
        return move_floats<true>(*product_.held_destination, product_.destination.element,
                                 rows_of(scratch_.sums, ProductScratch::columns));
      }
    }
    using As = std::conditional_t<std::is_same_v<Sum, float>, AsFloat, AsInt>;
    for (int i = 0; i < rows_; ++i) {
      const int count = product_.accumulates ? there(row + i, column) : 0;
      if (count > 0) {
        const TileMatrix& tile = product_.destination;
        if (is_as_it_is()) {
          copy_words(tile.address + place(row + i, column) * static_cast<std::int64_t>(sizeof(Sum)), sums(i), count);
        } else {
          Sum read[ProductScratch::columns];
          read_elements<As>(tile, place(row + i, column), tile.across, count, read);
          std::memcpy(sums(i), read, static_cast<std::size_t>(count) * sizeof(Sum));
        }
      }
      std::memset(sums(i) + count, 0, static_cast<std::size_t>(wide_ - count) * sizeof(Sum));
    }
  }

  void finish(std::int64_t row, std::int64_t column) {
    if constexpr (takes_held) {
      if (product_.held_destination) {
        return move_floats<false>(*product_.held_destination, product_.destination.element,
                                  rows_of(scratch_.sums, ProductScratch::columns));
      }
    }
    for (int i = 0; i < rows_; ++i) {
      const int count = there(row + i, column);
      if (count == 0) continue;
      if (is_as_it_is()) {
        std::byte* to = product_.destination.address + place(row + i, column) * static_cast<std::int64_t>(sizeof(Sum));
        copy_words(reinterpret_cast<const std::byte*>(sums(i)), reinterpret_cast<std::uint32_t*>(to), count);
        continue;
      }
      Sum written[ProductScratch::columns];
      std::memcpy(written, sums(i), static_cast<std::size_t>(count) * sizeof(Sum));
      write_elements(product_.destination, place(row + i, column), product_.destination.across, count, written);
    }
  }

  void read_left(std::int64_t row, std::int64_t k) {
    const TileMatrix& tile = product_.left;
    if constexpr (takes_held) {
      if (product_.held_left) {
        return move_floats<true>(*product_.held_left, tile.element, rows_of(scratch_.left, ProductScratch::left_row));
      }
    }
    const Strip strip{tile, row, k, tile.across, tile.down, tile.rows, tile.columns, rows_, steps_};
    const auto zero = static_cast<typename Left::Element>(left_off);
    if (tile.down != 1 || tile.across == 1) {
      read_rows<Left, elements>(strip, zero, scratch_.left, ProductScratch::left_row);
      return;
    }
    read_columns<Left, elements>(strip, zero, scratch_.turned, rows_);
    turn_words(scratch_.turned, rows_, scratch_.left, ProductScratch::left_row, words_, rows_);
  }

  void read_right(std::int64_t column, std::int64_t k) {
    const TileMatrix& tile = product_.right;
    if constexpr (takes_held) {
      if (product_.held_right) {
        HeldRows rows = rows_of(scratch_.right, pair);
        rows.group = pair;
        rows.group_distance = rows.row * words_;
        return move_floats<true>(*product_.held_right, tile.element, rows);
      }
    }
    const Strip strip{tile, column, k, tile.down, tile.across, tile.columns, tile.rows, columns_, steps_};
    const auto zero = static_cast<typename Right::Element>(-right_off);
    if (tile.down != 1 || tile.across == 1) {
      read_columns<Right, elements>(strip, zero, scratch_.right, pair);
      return;
    }
    read_rows<Right, elements>(strip, zero, scratch_.turned, ProductScratch::depth);
    for (int first = 0; first < columns_; first += pair) {
      const int own = std::min(pair, columns_ - first);
      std::uint32_t* to = scratch_.right + first * words_;
      turn_words(scratch_.turned + first * ProductScratch::depth, ProductScratch::depth, to, pair, own, words_);
      for (int word = 0; own < pair && word < words_; ++word) {
        for (int i = own; i < pair; ++i) to[word * pair + i] = 0;
      }
    }
  }

  // What is wanted once this part of k is multiplied: the operands' next parts, in the end the destination.
  void look_ahead(std::int64_t row, std::int64_t column, std::int64_t k, std::int64_t part) {
    next_left_ = next_right_ = Ahead{};
    const std::int64_t depth = std::min(part, product_.k - k);
    if (depth <= 0) {
      if (!product_.held_destination) next_left_ = Ahead(product_.destination, row, column, rows_, columns_);
      return;
    }
    if (!product_.held_left) next_left_ = Ahead(product_.left, row, k, rows_, depth);
    if (!product_.held_right) next_right_ = Ahead(product_.right, k, column, depth, columns_);
  }

  void add() {
    const int panels = (rows_ + most_rows - 1) / most_rows;
    for (int column = 0; column < wide_; column += pair) {
      for (int panel = 0, row = 0; panel < panels; ++panel) {
        const int end = rows_ * (panel + 1) / panels;
        const std::uint32_t *left = scratch_.left + row * ProductScratch::left_row,
                            *right = scratch_.right + column * words_;
        if (columns_ - column <= width) {
          multiply_rows<Steps, 1>(end - row, left, right, sums(row) + column, words_, next_left_, next_right_);
        } else {
          multiply_rows<Steps, 2>(end - row, left, right, sums(row) + column, words_, next_left_, next_right_);
        }
        row = end;
      }
    }
    if constexpr (left_off != 0 || right_off != 0) correct();
  }

  // With a' = a + left_off and b' = b - right_off, a * b = a' * b' + right_off * a' - left_off * b' - both.
  void correct() {
    const Words ones = all(0x01010101);
    std::uint32_t of_columns[ProductScratch::columns];
    for (int column = 0; left_off != 0 && column < wide_; column += width) {
      const std::uint32_t* words = scratch_.right + column / pair * pair * words_ + column % pair;
      Words sum = all(0);
      for (int word = 0; word < words_; ++word) sum = Steps::add(sum, ones, load(words + word * pair));
      store(of_columns + column, sum);
    }
    for (int row = 0; row < rows_; ++row) {
      const std::uint32_t of_row = right_off != 0 ? sum_of_row(row) : 0;
      const std::uint32_t same = right_off * of_row - left_off * right_off * static_cast<std::uint32_t>(steps_);
      for (int column = 0; column < wide_; column += width) {
        Words own = load(sums(row) + column) + all(same);
        if constexpr (left_off != 0) own -= all(left_off) * load(of_columns + column);
        store(sums(row) + column, own);
      }
    }
  }
  std::uint32_t sum_of_row(int row) {
    const std::uint32_t* words = scratch_.left + row * ProductScratch::left_row;
    Words sums = all(0);
    int word = 0;
    for (; word + width <= words_; word += width) sums = Steps::add(sums, load(words + word), all(0x01010101));
    std::uint32_t sum = 0;
    for (int i = 0; i < width; ++i) sum += sums[i];
    for (; word < words_; ++word) {
      for (int i = 0; i < elements; ++i) sum += words[word] >> (8 * i) & 0xff;
    }
    return sum;
  }

  const TileProduct& product_;
  ProductScratch& scratch_;
  int rows_ = 0, columns_ = 0, wide_ = 0;  // of the block; columns up to a whole pair of vectors
  int steps_ = 0, words_ = 0;              // of k
  Ahead next_left_, next_right_;
};

inline bool is_byte(TileElement element) {
  return element == TileElement::i8 || element == TileElement::u8 || element == TileElement::i4 ||
         element == TileElement::u4;
}
inline bool fits_short(TileElement element) { return is_byte(element) || element == TileElement::i16; }

inline void multiply(const TileProduct& product, ProductScratch& scratch) {
  const TileElement left = product.left.element, right = product.right.element;
  if (is_float(product.destination.element)) {
#if defined(METALLOID_HAS_DOT_PRODUCTS)
    const bool is_held = product.held_left || product.held_right || product.held_destination;
    if (!is_held && product.is_relaxed && left == TileElement::bf16 && right == TileElement::bf16) {
      return Blocks<BfloatSteps, AsBits, AsBits>(product, scratch).run();
    }
#endif
    return Blocks<FloatSteps, AsFloat, AsFloat>(product, scratch).run();
  }
#if defined(METALLOID_HAS_DOT_PRODUCTS)
  if (is_byte(left) && is_byte(right)) {
    const bool left_is_off = left == TileElement::i8 || left == TileElement::i4,
               right_is_off = right == TileElement::u8;
    if (left_is_off && right_is_off)
      return Blocks<ByteSteps, AsByte<128>, AsByte<128>, 128, 128>(product, scratch).run();
    if (left_is_off) return Blocks<ByteSteps, AsByte<128>, AsByte<0>, 128, 0>(product, scratch).run();
    if (right_is_off) return Blocks<ByteSteps, AsByte<0>, AsByte<128>, 0, 128>(product, scratch).run();
    return Blocks<ByteSteps, AsByte<0>, AsByte<0>>(product, scratch).run();
  }
#endif
  if (fits_short(left) && fits_short(right)) return Blocks<ShortSteps, AsShort, AsShort>(product, scratch).run();
  Blocks<IntSteps, AsInt, AsInt>(product, scratch).run();
}

}  // namespace
}  // namespace metalloid::engines::simd
