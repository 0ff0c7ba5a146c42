#include "engines/reference/cross_lane.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ir/operations.h"

namespace metalloid::engines::reference {
namespace {

using ir::CrossLane;
using ir::LaneType;

constexpr unsigned lanes = 32;

// A half in a float's clothes: every step rounds, as half arithmetic does.
float half_to_float(std::uint16_t bits) {
  std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  std::uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

std::uint16_t float_to_half(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65520 and above
  if (magnitude < 0x38800000) {  // below the smallest normal half: count in units of 2^-24
    float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(scaled)));
  }
  magnitude += 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23)) >> 13));
}

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float_to_half(value)) {}
  operator float() const { return half_to_float(bits); }
};
Half operator+(Half a, Half b) { return Half(float(a) + float(b)); }
Half operator*(Half a, Half b) { return Half(float(a) * float(b)); }

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, Half>) {
    Half result;
    result.bits = static_cast<std::uint16_t>(bits);
    return result;
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, Half>) {
    return value.bits;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

template <typename T>
constexpr bool is_float = std::is_same_v<T, float> || std::is_same_v<T, Half>;

// The operand that changes nothing. For float min and max it is NaN, which both
// ignore.
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

template <typename T>
T combine(CrossLane operation, T a, T b) {
  if constexpr (is_float<T>) {
    switch (operation) {
      case CrossLane::min: return T(std::fmin(float(a), float(b)));
      case CrossLane::max: return T(std::fmax(float(a), float(b)));
      case CrossLane::product:
      case CrossLane::prefix_inclusive_product:
      case CrossLane::prefix_exclusive_product: return a * b;
      default: return a + b;
    }
  } else {
    using U = std::make_unsigned_t<T>;
    switch (operation) {
      case CrossLane::min: return std::min(a, b);
      case CrossLane::max: return std::max(a, b);
      case CrossLane::bit_and: return a & b;
      case CrossLane::bit_or: return a | b;
      case CrossLane::bit_xor: return a ^ b;
      case CrossLane::product:
      case CrossLane::prefix_inclusive_product:
      case CrossLane::prefix_exclusive_product: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
      default: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    }
  }
}

// Reductions and scans over groups of `width` lanes.
template <typename T>
void reduce(CrossLane operation, unsigned width, std::uint32_t active, std::span<std::uint64_t, 32> values) {
  T work[lanes];
  T nothing = neutral<T>(operation);
  for (unsigned i = 0; i < lanes; ++i) work[i] = (active >> i) & 1 ? from_bits<T>(values[i]) : nothing;
  bool inclusive = operation == CrossLane::prefix_inclusive_sum || operation == CrossLane::prefix_inclusive_product;
  bool exclusive = operation == CrossLane::prefix_exclusive_sum || operation == CrossLane::prefix_exclusive_product;
  for (unsigned first = 0; first < lanes; first += width) {
    T* group = work + first;
    if (inclusive || exclusive) {
      T so_far = nothing;
      for (unsigned i = 0; i < width; ++i) {
        T before = so_far;
        if ((active >> (first + i)) & 1) so_far = combine(operation, so_far, group[i]);
        group[i] = inclusive ? so_far : before;
      }
    } else {
      for (unsigned half = width / 2; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; ++i) group[i] = combine(operation, group[i], group[i + half]);
      }
      for (unsigned i = 1; i < width; ++i) group[i] = group[0];
    }
  }
  for (unsigned i = 0; i < lanes; ++i) {
    if ((active >> i) & 1) values[i] = to_bits(work[i]);
  }
}

// The lane that a lane reads, or a number >= 32 for none. All arithmetic stays
// within the lane's group.
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

void run_cross_lane(const Site& site, std::uint32_t active, std::span<std::uint64_t, 32> values,
                    std::span<const std::uint64_t, 32> operands) {
  auto operation = static_cast<CrossLane>(site.operation);
  unsigned width = static_cast<ir::LaneGroup>(site.group) == ir::LaneGroup::quad ? 4 : 32;
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
  switch (static_cast<LaneType>(site.type)) {
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
