#include "engines/reference/cross_lane.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "ir/operations.h"

namespace metalloid::engines::reference {
namespace {

using ir::CrossLane;
using ir::LaneType;

constexpr unsigned lanes = 32;

using Half = _Float16;  // every step rounds, as half arithmetic does

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, Half>) {
    return std::bit_cast<Half>(static_cast<std::uint16_t>(bits));
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, Half>) {
    return std::bit_cast<std::uint16_t>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <typename T>
constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, Half>;

// The operand that changes nothing. For float min and max it is NaN, which both ignore.
template <typename T>
T neutral(CrossLane operation) {
  switch (operation) {
    case CrossLane::product:
    case CrossLane::prefix_inclusive_product:
    case CrossLane::prefix_exclusive_product: return T(1);
    case CrossLane::min:
      if constexpr (is_float<T>)
        return T(std::numeric_limits<float>::quiet_NaN());
      else
        return std::numeric_limits<T>::max();
    case CrossLane::max:
      if constexpr (is_float<T>)
        return T(std::numeric_limits<float>::quiet_NaN());
      else
        return std::numeric_limits<T>::lowest();
    case CrossLane::bit_and: return T(-1);
    case CrossLane::sum:
      if constexpr (is_float<T>)
        return T(-0.0f);
      else
        return T(0);
    default: return T(0);
  }
}

// IEEE 754-2008 minNum and maxNum: NaN loses.
float smaller(float a, float b) { return b < a || a != a ? b : a; }
float larger(float a, float b) { return b > a || a != a ? b : a; }

template <typename T, typename Combine>
void scan(bool inclusive, unsigned width, std::uint32_t active, T nothing, T (&work)[lanes], Combine combine) {
  for (unsigned first = 0; first < lanes; first += width) {
    T so_far = nothing;
    for (unsigned i = first; i < first + width; ++i) {
      T before = so_far;
      if ((active >> i) & 1) so_far = combine(so_far, work[i]);
      work[i] = inclusive ? so_far : before;
    }
  }
}

template <typename T, typename Combine>
void reduce_groups(unsigned width, T (&work)[lanes], Combine combine) {
  for (unsigned first = 0; first < lanes; first += width) {
    for (unsigned distance = width / 2; distance != 0; distance /= 2) {
      for (unsigned i = first; i < first + distance; ++i) work[i] = combine(work[i], work[i + distance]);
    }
    for (unsigned i = first + 1; i < first + width; ++i) work[i] = work[first];
  }
}

// Calls `use` with the operation on two values.
template <typename T, typename Use>
void with_combination(CrossLane operation, Use use) {
  if constexpr (is_float<T>) {
    switch (operation) {
      case CrossLane::min: return use([](T a, T b) { return T(smaller(float(a), float(b))); });
      case CrossLane::max: return use([](T a, T b) { return T(larger(float(a), float(b))); });
      case CrossLane::product:
      case CrossLane::prefix_inclusive_product:
      case CrossLane::prefix_exclusive_product: return use([](T a, T b) { return a * b; });
      default: return use([](T a, T b) { return a + b; });
    }
  } else {
    using U = std::make_unsigned_t<T>;
    switch (operation) {
      case CrossLane::min: return use([](T a, T b) { return std::min(a, b); });
      case CrossLane::max: return use([](T a, T b) { return std::max(a, b); });
      case CrossLane::bit_and: return use([](T a, T b) { return a & b; });
      case CrossLane::bit_or: return use([](T a, T b) { return a | b; });
      case CrossLane::bit_xor: return use([](T a, T b) { return a ^ b; });
      case CrossLane::product:
      case CrossLane::prefix_inclusive_product:
      case CrossLane::prefix_exclusive_product:
        return use([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
      default: return use([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    }
  }
}

// Reductions and scans over groups of `width` lanes.
template <typename T>
void reduce(CrossLane operation, unsigned width, std::uint32_t active, std::span<std::uint64_t, 32> values) {
  T work[lanes];
  const T nothing = neutral<T>(operation);
  for (unsigned i = 0; i < lanes; ++i) work[i] = (active >> i) & 1 ? from_bits<T>(values[i]) : nothing;
  const bool inclusive =
      operation == CrossLane::prefix_inclusive_sum || operation == CrossLane::prefix_inclusive_product;
  const bool exclusive =
      operation == CrossLane::prefix_exclusive_sum || operation == CrossLane::prefix_exclusive_product;
  with_combination<T>(operation, [&](auto combine) {
    if (inclusive || exclusive) return scan(inclusive, width, active, nothing, work, combine);
    return reduce_groups(width, work, combine);
  });
  for (unsigned i = 0; i < lanes; ++i) {
    if ((active >> i) & 1) values[i] = to_bits(work[i]);
  }
}

// The lane that a lane reads, or a number >= 32 for none. All arithmetic stays within the lane's group.
unsigned source_lane(CrossLane operation, unsigned lane, std::uint32_t operand, unsigned width) {
  unsigned first = lane & ~(width - 1), within = lane & (width - 1);
  constexpr unsigned none = lanes;
  switch (operation) {
    case CrossLane::broadcast:
    case CrossLane::shuffle: return operand < width ? first + operand : none;
    case CrossLane::shuffle_up: return operand <= within ? lane - operand : none;
    case CrossLane::shuffle_down: return operand < width - within ? lane + operand : none;
    case CrossLane::shuffle_xor: return operand < width ? first + (within ^ operand) : none;
    case CrossLane::rotate_up: return first + ((within - operand) & (width - 1));
    case CrossLane::rotate_down: return first + ((within + operand) & (width - 1));
    default: return none;
  }
}

void permute(CrossLane operation, unsigned width, std::uint32_t active, std::span<std::uint64_t, 32> values,
             std::span<const std::uint64_t, 32> operands) {
  std::uint64_t before[lanes];
  std::copy(values.begin(), values.end(), before);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!((active >> lane) & 1)) continue;
    unsigned source = source_lane(operation, lane, static_cast<std::uint32_t>(operands[lane]), width);
    if (source < lanes && ((active >> source) & 1)) values[lane] = before[source];
  }
}

template <typename Result>
void per_group(unsigned width, std::uint32_t active, std::span<std::uint64_t, 32> values, Result result) {
  for (unsigned first = 0; first < lanes; first += width) {
    std::uint32_t members = width == 32 ? active : (active >> first) & ((1u << width) - 1);
    if (members == 0) continue;
    std::uint64_t value = result(first, members);
    for (unsigned i = 0; i < width; ++i) {
      if ((members >> i) & 1) values[first + i] = value;
    }
  }
}

}  // namespace

void run_cross_lane(const ir::CrossLaneOperation& kind, std::uint32_t active, std::span<std::uint64_t, 32> values,
                    std::span<const std::uint64_t, 32> operands) {
  const CrossLane operation = kind.operation;
  const unsigned width = kind.group == ir::LaneGroup::quad ? 4 : 32;
  if (operation == CrossLane::ballot) {
    return per_group(width, active, values, [&](unsigned first, std::uint32_t members) {
      std::uint64_t votes = 0;
      for (unsigned i = 0; i < width; ++i) {
        if ((members >> i) & 1) votes |= (values[first + i] & 1) << i;
      }
      return votes;
    });
  }
  if (operation == CrossLane::broadcast_first) {
    return per_group(width, active, values, [&](unsigned first, std::uint32_t members) {
      return values[first + static_cast<unsigned>(std::countr_zero(members))];
    });
  }
  if (operation >= CrossLane::broadcast) return permute(operation, width, active, values, operands);
  switch (kind.type) {
    case LaneType::i32: return reduce<std::int32_t>(operation, width, active, values);
    case LaneType::u32:
    case LaneType::b32: return reduce<std::uint32_t>(operation, width, active, values);
    case LaneType::i64: return reduce<std::int64_t>(operation, width, active, values);
    case LaneType::u64:
    case LaneType::b64:
    case LaneType::boolean: return reduce<std::uint64_t>(operation, width, active, values);
    case LaneType::f16: return reduce<Half>(operation, width, active, values);
    case LaneType::f32: return reduce<float>(operation, width, active, values);
  }
}

}  // namespace metalloid::engines::reference
