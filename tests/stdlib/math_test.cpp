// The math library against double precision, within the error bounds of MSL spec §8.4, on every device and in the
// math modes that differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "math_harness.h"

namespace metalloid::stdlib_test {
namespace math_test {

constexpr std::size_t sample_count = 30'000;
constexpr double pi = std::numbers::pi;

struct Function {
  std::string expression;
  double bound;  // in units in the last place; 0 means correctly rounded
  double (*reference)(double x, double y, double z);
  // Where the function is interesting besides everywhere.
  double low, high;
};

std::ostream& operator<<(std::ostream& stream, const Function& function) { return stream << function.expression; }

// Exact for arguments of any size, unlike sin(pi * x).
double sinpi(double x) {
  if (!std::isfinite(x)) return std::nan("");
  const double r = std::fmod(std::fabs(x), 2.0);
  const double folded = r > 1 ? r - 1 : r;
  const double value = folded > 0.5 ? std::sin(pi * (1 - folded)) : std::sin(pi * folded);
  return std::copysign(value, (r > 1) != std::signbit(x) ? -1.0 : 1.0);
}
double cospi(double x) {
  if (!std::isfinite(x)) return std::nan("");
  double r = std::fmod(std::fabs(x), 2.0);
  if (r > 1) r = 2 - r;
  return r > 0.5 ? -std::sin(pi * (r - 0.5)) : std::sin(pi * (0.5 - r));
}
double maximum(double x, double y) { return std::fmax(x, y); }
double minimum(double x, double y) { return std::fmin(x, y); }

const Function unary[] = {
    {"sin(x)", 4, [](double x, double, double) { return std::sin(x); }, -10, 10},
    {"cos(x)", 4, [](double x, double, double) { return std::cos(x); }, -10, 10},
    {"tan(x)", 6, [](double x, double, double) { return std::tan(x); }, -10, 10},
    {"asin(x)", 4, [](double x, double, double) { return std::asin(x); }, -1, 1},
    {"acos(x)", 4, [](double x, double, double) { return std::acos(x); }, -1, 1},
    {"atan(x)", 5, [](double x, double, double) { return std::atan(x); }, -5, 5},
    {"sinh(x)", 4, [](double x, double, double) { return std::sinh(x); }, -90, 90},
    {"cosh(x)", 4, [](double x, double, double) { return std::cosh(x); }, -90, 90},
    {"tanh(x)", 5, [](double x, double, double) { return std::tanh(x); }, -10, 10},
    {"asinh(x)", 4, [](double x, double, double) { return std::asinh(x); }, -10, 10},
    {"acosh(x)", 4, [](double x, double, double) { return std::acosh(x); }, 1, 4},
    {"atanh(x)", 5, [](double x, double, double) { return std::atanh(x); }, -1, 1},
    {"sinpi(x)", 4, [](double x, double, double) { return sinpi(x); }, -5, 5},
    {"cospi(x)", 4, [](double x, double, double) { return cospi(x); }, -5, 5},
    {"tanpi(x)", 6, [](double x, double, double) { return sinpi(x) / cospi(x); }, -5, 5},
    {"exp(x)", 4, [](double x, double, double) { return std::exp(x); }, -105, 90},
    {"exp2(x)", 4, [](double x, double, double) { return std::exp2(x); }, -150, 129},
    {"exp10(x)", 4, [](double x, double, double) { return std::pow(10.0, x); }, -45, 39},
    {"log(x)", 4, [](double x, double, double) { return std::log(x); }, 0, 3},
    {"log2(x)", 4, [](double x, double, double) { return std::log2(x); }, 0, 3},
    {"log10(x)", 4, [](double x, double, double) { return std::log10(x); }, 0, 3},
    {"sqrt(x)", 0, [](double x, double, double) { return std::sqrt(x); }, 0, 100},
    {"rsqrt(x)", 0,
     [](double x, double, double) { return static_cast<double>(1 / std::sqrt(static_cast<long double>(x))); }, 0, 100},
    {"1 / x", 0, [](double x, double, double) { return 1 / x; }, -10, 10},
    {"ceil(x)", 0, [](double x, double, double) { return std::ceil(x); }, -10, 10},
    {"floor(x)", 0, [](double x, double, double) { return std::floor(x); }, -10, 10},
    {"trunc(x)", 0, [](double x, double, double) { return std::trunc(x); }, -10, 10},
    {"rint(x)", 0, [](double x, double, double) { return std::nearbyint(x); }, -10, 10},
    {"round(x)", 0, [](double x, double, double) { return std::round(x); }, -10, 10},
    {"fabs(x)", 0, [](double x, double, double) { return std::fabs(x); }, -10, 10},
    {"abs(x)", 0, [](double x, double, double) { return std::fabs(x); }, -10, 10},
    {"saturate(x)", 0, [](double x, double, double) { return std::isnan(x) ? 0 : std::clamp(x, 0.0, 1.0); }, -2, 2},
    {"sign(x)", 0, [](double x, double, double) { return x > 0   ? 1.0
                                                         : x < 0 ? -1.0
                                                                 : 0.0; }, -2, 2},
};

const Function several[] = {
    {"x + y", 0, [](double x, double y, double) { return x + y; }, -10, 10},
    {"x - y", 0, [](double x, double y, double) { return x - y; }, -10, 10},
    {"x * y", 0, [](double x, double y, double) { return x * y; }, -10, 10},
    {"x / y", 0, [](double x, double y, double) { return x / y; }, -10, 10},
    {"divide(x, y)", 0, [](double x, double y, double) { return x / y; }, -10, 10},
    {"atan2(x, y)", 6, [](double x, double y, double) { return std::atan2(x, y); }, -10, 10},
    {"pow(x, y)", 16, [](double x, double y, double) { return std::pow(x, y); }, -10, 10},
    {"powr(fabs(x), y)", 16, [](double x, double y, double) { return std::pow(std::fabs(x), y); }, -10, 10},
    {"fmod(x, y)", 0, [](double x, double y, double) { return std::fmod(x, y); }, -10, 10},
    {"fmax(x, y)", 0, [](double x, double y, double) { return maximum(x, y); }, -10, 10},
    {"fmin(x, y)", 0, [](double x, double y, double) { return minimum(x, y); }, -10, 10},
    {"max(x, y)", 0, [](double x, double y, double) { return maximum(x, y); }, -10, 10},
    {"min(x, y)", 0, [](double x, double y, double) { return minimum(x, y); }, -10, 10},
    {"copysign(x, y)", 0, [](double x, double y, double) { return std::copysign(x, y); }, -10, 10},
    {"fdim(x, y)", 0, [](double x, double y, double) { return std::fdim(x, y); }, -10, 10},
    {"step(x, y)", 0, [](double x, double y, double) { return y < x ? 0.0 : 1.0; }, -10, 10},
    {"max3(x, y, z)", 0, [](double x, double y, double z) { return maximum(x, maximum(y, z)); }, -10, 10},
    {"min3(x, y, z)", 0, [](double x, double y, double z) { return minimum(x, minimum(y, z)); }, -10, 10},
    {"fmax3(x, y, z)", 0, [](double x, double y, double z) { return maximum(x, maximum(y, z)); }, -10, 10},
    {"fmin3(x, y, z)", 0, [](double x, double y, double z) { return minimum(x, minimum(y, z)); }, -10, 10},
    {"clamp(x, -1, 1)", 0, [](double x, double, double) { return minimum(maximum(x, -1), 1); }, -10, 10},
    {"select(x, y, z < 0)", 0, [](double x, double y, double z) { return z < 0 ? y : x; }, -10, 10},
};

struct Worst {
  double error = 0;
  std::size_t index = 0;
};

// Flushing a denormal input or result to zero is legal (spec §8.5).
bool is_denormal(double value, Format format) {
  const double smallest = format == Format::float16 ? 0x1p-14 : 0x1p-126;
  return value != 0 && std::fabs(value) < smallest;
}

void check(const Function& function, Format format, MathMode mode, const std::string& expression, double bound,
           const Inputs& inputs) {
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name() + " " + stdlib_test::name_of(format) + " " + expression);
    const std::vector<std::uint32_t> results = evaluate(device, mode, format, expression, inputs);
    Worst worst;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double x = to_double(inputs.x[i], format);
      const double y = inputs.y.empty() ? 0 : to_double(inputs.y[i], format);
      const double z = inputs.z.empty() ? 0 : to_double(inputs.z[i], format);
      const double expected = function.reference(x, y, z), got = to_double(results[i], format);
      if (got == 0 && is_denormal(expected, format)) continue;
      if (is_denormal(x, format) || is_denormal(y, format) || is_denormal(z, format)) {
        const double flushed = function.reference(
            is_denormal(x, format) ? 0 * x : x, is_denormal(y, format) ? 0 * y : y, is_denormal(z, format) ? 0 * z : z);
        if (error_in_ulp(got, flushed, format) <= bound) continue;
      }
      const double error = error_in_ulp(got, expected, format);
      if (error > worst.error) worst = {error, i};
    }
    const std::size_t i = worst.index;
    EXPECT_LE(worst.error, bound) << "x = " << to_double(inputs.x[i], format)
                                  << ", y = " << (inputs.y.empty() ? 0 : to_double(inputs.y[i], format))
                                  << ", z = " << (inputs.z.empty() ? 0 : to_double(inputs.z[i], format)) << ": got "
                                  << to_double(results[i], format);
  }
}

std::vector<std::uint32_t> concatenate(std::vector<std::uint32_t> a, const std::vector<std::uint32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Inputs unary_inputs(const Function& function, Format format) {
  if (format != Format::float32) return {.x = every_16_bits(), .y = {}, .z = {}};
  return {.x = concatenate(sample_all(format, sample_count, 1),
                           sample_range(format, function.low, function.high, sample_count, 2)),
          .y = {},
          .z = {}};
}

Inputs several_inputs(const Function& function, Format format) {
  const auto numbers = [&](std::uint32_t seed) {
    std::vector<std::uint32_t> all = sample_all(format, sample_count, seed);
    // Specials of one argument meet all specials of the others.
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seed * 7), all.begin() + 32);
    return concatenate(all, sample_range(format, function.low, function.high, sample_count, seed));
  };
  return {.x = numbers(0), .y = numbers(1), .z = numbers(2)};
}

// The expression on vectors that hold x, y and z among other numbers.
std::string on_vectors(const std::string& expression, Format format) {
  const std::string vector = stdlib_test::name_of(format) + "3";
  return "[](" + vector + " x, " + vector + " y, " + vector + " z) { return " + expression + "; }(" + vector +
         "(0.25, x, 0.5), " + vector + "(0.5, y, 2), " + vector + "(1, z, -1)).y";
}

class UnaryMath : public ::testing::TestWithParam<Function> {};
class SeveralArguments : public ::testing::TestWithParam<Function> {};

// In half, results are rounded once from float.
double half_bound(double bound) { return bound == 0 ? 0 : 1; }

TEST_P(UnaryMath, FloatSafe) {
  check(GetParam(), Format::float32, MathMode::safe, GetParam().expression, GetParam().bound,
        unary_inputs(GetParam(), Format::float32));
}
// Fast math permits reciprocals of its own; the bounds of the functions stay.
TEST_P(UnaryMath, FloatFast) {
  check(GetParam(), Format::float32, MathMode::fast, GetParam().expression, std::max(GetParam().bound, 2.5),
        unary_inputs(GetParam(), Format::float32));
}
TEST_P(UnaryMath, Half) {
  check(GetParam(), Format::float16, MathMode::safe, GetParam().expression, half_bound(GetParam().bound),
        unary_inputs(GetParam(), Format::float16));
}
TEST_P(UnaryMath, Precise) {
  const std::string& expression = GetParam().expression;
  if (!std::isalpha(static_cast<unsigned char>(expression.front()))) return;
  const Inputs inputs = unary_inputs(GetParam(), Format::float32);
  check(GetParam(), Format::float32, MathMode::fast, "precise::" + expression, std::max(GetParam().bound, 2.5), inputs);
  check(GetParam(), Format::float32, MathMode::safe, "fast::" + expression, GetParam().bound, inputs);
}
TEST_P(UnaryMath, Vectors) {
  for (const Format format : {Format::float32, Format::float16}) {
    const double bound = format == Format::float32 ? GetParam().bound : half_bound(GetParam().bound);
    check(GetParam(), format, MathMode::safe, on_vectors(GetParam().expression, format), bound,
          unary_inputs(GetParam(), format));
  }
}

TEST_P(SeveralArguments, FloatSafe) {
  check(GetParam(), Format::float32, MathMode::safe, GetParam().expression, GetParam().bound,
        several_inputs(GetParam(), Format::float32));
}
TEST_P(SeveralArguments, FloatFast) {
  check(GetParam(), Format::float32, MathMode::fast, GetParam().expression, std::max(GetParam().bound, 2.5),
        several_inputs(GetParam(), Format::float32));
}
TEST_P(SeveralArguments, Half) {
  check(GetParam(), Format::float16, MathMode::safe, GetParam().expression, half_bound(GetParam().bound),
        several_inputs(GetParam(), Format::float16));
}

TEST_P(SeveralArguments, Vectors) {
  for (const Format format : {Format::float32, Format::float16}) {
    const double bound = format == Format::float32 ? GetParam().bound : half_bound(GetParam().bound);
    check(GetParam(), format, MathMode::safe, on_vectors(GetParam().expression, format), bound,
          several_inputs(GetParam(), format));
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, UnaryMath, ::testing::ValuesIn(unary));
INSTANTIATE_TEST_SUITE_P(Functions, SeveralArguments, ::testing::ValuesIn(several));

// Double arithmetic on two bfloats is exact or far finer than a bfloat, so one rounding of it is the right answer.
TEST(Bfloat, Arithmetic) {
  const Format format = Format::bfloat16;
  for (const Function& function : several) {
    if (function.expression.size() != 5) continue;  // x + y and its kin
    check(function, format, MathMode::safe, function.expression, 0, several_inputs(function, format));
  }
}
TEST(Bfloat, ConversionFromFloat) {
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    Inputs inputs{.x = sample_all(Format::float32, 200'000, 5), .y = {}, .z = {}};
    const auto results = evaluate(device, MathMode::safe, Format::float32, "float(bfloat(x))", inputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double x = to_double(inputs.x[i], Format::float32);
      ASSERT_EQ(error_in_ulp(to_double(results[i], Format::float32), x, Format::bfloat16), 0) << x;
    }
  }
}
TEST(Half, FusedMultiplyAddRoundsOnce) {
  const Function fma{"fma(x, y, z)", 0, [](double x, double y, double z) { return std::fma(x, y, z); }, -10, 10};
  const Inputs inputs = several_inputs(fma, Format::float16);
  check(fma, Format::float16, MathMode::safe, fma.expression, 0, inputs);
  check(fma, Format::float16, MathMode::safe, on_vectors(fma.expression, Format::float16), 0, inputs);
}
TEST(Float, FusedMultiplyAddRoundsOnce) {
  // A product and sum exact in long double for these arguments.
  const Function fma{
      "fma(x, y, z)", 0,
      [](double x, double y, double z) {
        return static_cast<double>(std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
      },
      -10, 10};
  check(fma, Format::float32, MathMode::safe, fma.expression, 0, several_inputs(fma, Format::float32));
}
TEST(Float, FractIsBelowOne) {
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    for (const Format format : {Format::float32, Format::float16}) {
      const Inputs inputs{.x = sample_all(format, 100'000, 9), .y = {}, .z = {}};
      const auto results = evaluate(device, MathMode::safe, format, "fract(x)", inputs);
      for (std::size_t i = 0; i < results.size(); ++i) {
        const double x = to_double(inputs.x[i], format), got = to_double(results[i], format);
        if (!std::isfinite(x)) {
          ASSERT_TRUE(std::isnan(got)) << x;
        } else {
          ASSERT_TRUE(got >= 0 && got < 1) << x << " gives " << got;
          ASSERT_LE(std::fabs(got - (x - std::floor(x))), 0x1p-11) << x;
        }
      }
    }
  }
}
TEST(Float, DecompositionsComposeBack) {
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    for (const Format format : {Format::float32, Format::float16}) {
      const std::string type = stdlib_test::name_of(format);
      const Inputs inputs{.x = sample_all(format, 100'000, 11), .y = sample_all(format, 100'000, 12), .z = {}};
      const auto expect_same = [&](const std::string& body) {
        const auto results = evaluate(device, MathMode::safe, format, body, inputs);
        for (std::size_t i = 0; i < results.size(); ++i) {
          const double x = to_double(inputs.x[i], format), got = to_double(results[i], format);
          ASSERT_TRUE(got == x || (std::isnan(got) && std::isnan(x))) << body << ": " << x << " gives " << got;
        }
      };
      expect_same("[&] { int e; " + type + " m = frexp(x, e); return ldexp(m, e); }()");
      expect_same(
          "[&] { int e; " + type +
          " m = fabs(frexp(x, e)); bool ok = m == 0 || isinf(m) || isnan(m) || (m >= 0.5h && m < 1); return ok ? x : " +
          type + "(12345); }()");
      expect_same("[&] { " + type + " whole; " + type +
                  " rest = modf(x, whole); return isinf(x) ? whole + rest : whole + rest; }()");
      expect_same("x == 0 || !isfinite(x) ? x : ldexp(ldexp(x, -ilogb(x)), ilogb(x))");
      expect_same(
          "isfinite(x) && isfinite(y) && x != y && isfinite(nextafter(x, y)) ? nextafter(nextafter(x, y), x) : x");
    }
  }
}

}  // namespace math_test
}  // namespace metalloid::stdlib_test
