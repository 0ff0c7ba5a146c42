// Large angles and quotients as expressions of integers. Powers are in power.cpp.
#include "ir/math/rare_arguments.h"

#include <limits>

#include "ir/math/powers.h"

namespace metalloid::ir::math::rare {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t fraction = 0x7fffff, implicit_digit = 0x800000;

// a = mantissa 2^(exponent - 150), for finite a that are not negative; the mantissa in 64 bits, below 2^24.
struct Whole {
  Integers mantissa, exponent;
};

Whole as_whole(Floats a) {
  const Integers all = bits(a), exponent = logical_shift_right(all, 23);
  const Mask denormal = exponent == 0;
  const Integers mantissa = all & fraction;
  return {extend(select(denormal, mantissa, mantissa | implicit_digit)), select(denormal, 1, exponent)};
}

}  // namespace

Mask is_large_angle(Floats x) { return absolute(x) >= large_angle; }

// Payne and Hanek. x = M 2^e with whole M below 2^24. Of x 2/pi only the remainder by 4 matters, so the digits of 2/pi
// above 2^(1-e) do not: a window of 96 digits from there times M, by 2^96, is a fraction of a full turn. Its upper two
// bits are the quarter, the 62 below are the rest with at least 30 digits, since no float comes nearer to a multiple
// than 2^-32 of it.
ReducedAngle reduce_large_angle(Floats x) {
  // After 32 zeros, for windows that begin before the point.
  static constexpr std::int64_t digits_of_2_by_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  const Floats magnitude = absolute(x);
  const Whole whole = as_whole(magnitude);
  const Integers begin = whole.exponent - (127 + 23 - 30);  // of finite ones that are large below 160
  const Integers first = begin >> 5, shift = extend(32 - (begin & 31));
  const auto word = [&](unsigned i) {
    Integers found = whole.mantissa.constant(digits_of_2_by_pi[i]);
    for (unsigned k = 1; k < 5; ++k) found = select(first == k, digits_of_2_by_pi[i + k], found);
    return found;
  };
  const auto digits = [&](unsigned i) {
    return logical_shift_right((word(i) << 32) | word(i + 1), shift) & std::int64_t{0xffffffff};
  };
  const Integers turn = ((whole.mantissa * digits(0)) << 32) + whole.mantissa * digits(1) +
                        logical_shift_right(whole.mantissa * digits(2), 32);
  const Integers quarter = logical_shift_right(turn + (std::int64_t{1} << 61), 62);
  const Floats angle = to_float(to_double(turn - (quarter << 62)) * 0x1.921fb54442d18p-62);
  const Integers count = truncate(quarter);
  const Mask finite = magnitude < infinity, negative = has_sign(x);
  const Integers signed_count = select(negative, 0 - count, count);
  return {select(finite, select(negative, -angle, angle), not_a_number),
          select(finite, signed_count, count.constant(0))};
}

Mask is_large_quotient(Floats quotient) { return !(quotient < large_quotient); }

// Long division of whole numbers, 40 binary digits of the quotient at a time.
Floats large_remainder(Floats x, Floats y) {
  constexpr std::int64_t step = 40, most_digits = 254 - 1;
  const Floats a = absolute(x), b = absolute(y);
  const Whole dividend = as_whole(a), divisor = as_whole(b);
  const Integers by = select(divisor.mantissa == 0, 1, divisor.mantissa);
  Integers rest = dividend.mantissa, digits = dividend.exponent - divisor.exponent;
  digits = select(digits < 0, 0, digits);
  for (std::int64_t done = 0; done < most_digits; done += step) {
    const Integers now = select(digits > step, step, digits);
    rest = unsigned_remainder(rest << extend(now), by);
    digits = digits - now;
  }
  const Floats result = scale(to_float(truncate(rest)), divisor.exponent - 150);
  const Mask defined = (a < infinity) & (b > 0.0);
  return select(defined, copy_sign(result, x), not_a_number);
}

}  // namespace metalloid::ir::math::rare
