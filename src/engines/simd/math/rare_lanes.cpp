#include "engines/simd/math/rare_lanes.h"

#include <bit>
#include <cmath>
#include <limits>

#include "ir/math/rare_arguments.h"

namespace metalloid::engines::simd {
namespace {

using namespace ir::math::rare;

struct Reduced {
  float rest;
  std::int32_t quarter;
};

// Payne and Hanek. x = M 2^e with whole M below 2^24. Of x 2/pi only the remainder by 4 matters, so the digits of 2/pi
// above 2^(1-e) do not: a window of 96 digits from there times M, by 2^96, is a fraction of a full turn. Its upper two
// bits are the quarter, the 62 below are the rest with at least 30 digits, since no float comes nearer to a multiple
// than 2^-32 of it.
Reduced reduce(float x) {
  // After 32 zeros, for windows that begin before the point.
  static constexpr std::uint32_t digits_of_2_by_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                        0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  if (!std::isfinite(x)) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const auto bits = std::bit_cast<std::uint32_t>(std::fabs(x));
  const std::uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  const std::uint32_t begin = (bits >> 23) - (127 + 23) + 30;  // e is between -6 and 104
  const auto digits = [&](std::uint32_t i) -> std::uint64_t {
    const std::uint32_t* word = digits_of_2_by_pi + begin / 32 + i;
    return static_cast<std::uint32_t>((std::uint64_t{word[0]} << 32 | word[1]) >> (32 - begin % 32));
  };
  const std::uint64_t turn = (mantissa * digits(0) << 32) + mantissa * digits(1) + (mantissa * digits(2) >> 32);
  const std::uint64_t quarter = (turn + (std::uint64_t{1} << 61)) >> 62;
  const auto rest = static_cast<double>(static_cast<std::int64_t>(turn - (quarter << 62)));
  const auto angle = static_cast<float>(rest * 0x1.921fb54442d18p-62);
  const auto whole = static_cast<std::int32_t>(quarter);
  return std::signbit(x) ? Reduced{-angle, -whole} : Reduced{angle, whole};
}

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void reduce_large_angles(const float* x, float* rest, std::int32_t* quarter, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!(std::fabs(x[i]) >= large_angle)) continue;
    const Reduced reduced = reduce(x[i]);
    rest[i] = reduced.rest;
    quarter[i] = reduced.quarter;
  }
}

void large_remainders(const float* x, const float* y, float* results, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!(std::fabs(x[i]) / std::fabs(y[i]) < large_quotient)) results[i] = std::fmod(x[i], y[i]);
  }
}

void unusual_powers(const float* x, const float* y, float* results, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto base = std::bit_cast<std::uint32_t>(x[i]), exponent = std::bit_cast<std::uint32_t>(std::fabs(y[i]));
    const bool ordinary = (base == 0 || base - smallest_normal < infinity_bits - smallest_normal) &&
                          exponent - smallest_exponent < infinity_bits - smallest_exponent;
    if (!ordinary) results[i] = std::pow(x[i], y[i]);
  }
}

void* vector_math_symbol(std::string_view name) {
  if (name == "metalloid_reduce_large_angles") return address_of(reduce_large_angles);
  if (name == "metalloid_large_remainders") return address_of(large_remainders);
  if (name == "metalloid_unusual_powers") return address_of(unusual_powers);
  return nullptr;
}

}  // namespace metalloid::engines::simd
