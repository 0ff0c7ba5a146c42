// Math of vectors (engines/simd/math/lower_vector_math.h) and of single numbers (ir/math/lower_math.h) as machine code
// for several processors, against double precision.
// DISABLED_EveryFloat goes through all arguments of the unary functions (`make test-vector-math`).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "math_harness.h"
#include "vector_math_harness.h"

namespace metalloid::stdlib_test {
namespace vector_math_test {

constexpr std::size_t sample_count = 1 << 16;

struct Function {
  std::string name;
  int arguments;
  double bound;  // in units in the last place; 0: correctly rounded
  double (*reference)(double x, double y, double z);
  double low, high;  // where it is interesting besides everywhere

  std::string instruction(const std::string& element, MathForm form) const {
    const std::string type = form == MathForm::vector ? "<32 x " + element + "> " : element + " ";
    if (name == "frem") return "frem " + type + "%x, %y";
    std::string text = "call " + type + "@llvm." + name + "(" + type + "%x";
    if (arguments > 1) text += ", " + type + "%y";
    if (arguments > 2) text += ", " + type + "%z";
    return text + ")";
  }
};

std::ostream& operator<<(std::ostream& stream, const Function& function) { return stream << function.name; }

#define ONE(name) [](double x, double, double) { return std::name(x); }
#define TWO(name) [](double x, double y, double) { return std::name(x, y); }
// Bounds are a little above the largest errors found (docs/vector-math.md); MSL's are 4 to 6, and 16 of pow.
const Function functions[] = {
    {"sin", 1, 2.5, ONE(sin), -10, 10},
    {"cos", 1, 2.5, ONE(cos), -10, 10},
    {"tan", 1, 4.5, ONE(tan), -10, 10},
    {"asin", 1, 2.5, ONE(asin), -1, 1},
    {"acos", 1, 1.5, ONE(acos), -1, 1},
    {"atan", 1, 2.5, ONE(atan), -5, 5},
    {"sinh", 1, 2.5, ONE(sinh), -90, 90},
    {"cosh", 1, 2, ONE(cosh), -90, 90},
    {"tanh", 1, 3, ONE(tanh), -10, 10},
    {"exp", 1, 1.5, ONE(exp), -105, 90},
    {"exp2", 1, 1.5, ONE(exp2), -151, 129},
    {"exp10", 1, 1.5, [](double x, double, double) { return std::pow(10.0, x); }, -46, 39},
    {"log", 1, 1.5, ONE(log), 0, 3},
    {"log2", 1, 2.5, ONE(log2), 0, 3},
    {"log10", 1, 3, ONE(log10), 0, 3},
    {"sqrt", 1, 0, ONE(sqrt), 0, 100},
    {"ceil", 1, 0, ONE(ceil), -10, 10},
    {"floor", 1, 0, ONE(floor), -10, 10},
    {"rint", 1, 0, ONE(nearbyint), -10, 10},
    {"nearbyint", 1, 0, ONE(nearbyint), -10, 10},
    {"roundeven", 1, 0, ONE(nearbyint), -10, 10},
    {"round", 1, 0, ONE(round), -10, 10},
    {"trunc", 1, 0, ONE(trunc), -10, 10},
    {"atan2", 2, 2.5, TWO(atan2), -10, 10},
    {"pow", 2, 2, TWO(pow), -10, 10},
    {"frem", 2, 0, TWO(fmod), -10, 10},
    {"fma", 3, 0,
     [](double x, double y, double z) {
       return double{std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z))};
     },
     -10, 10},
};
#undef ONE
#undef TWO

struct Worst {
  double error = 0;
  std::size_t index = 0;
};

// NaN has no sign; everything else does.
double error_of(double got, double expected, Format format) {
  if (!std::isnan(expected) && std::signbit(got) != std::signbit(expected)) return HUGE_VAL;
  return error_in_ulp(got, expected, format);
}

// Fills up with repetitions to whole vectors.
void make_whole(std::vector<std::uint32_t>& bits, std::size_t count) {
  for (std::size_t i = 0; bits.size() < count; ++i) bits.push_back(bits[i]);
}

// Numbers of all kinds for one argument; all specials of it meet all specials of the others.
std::vector<std::uint32_t> inputs(const Function& function, std::uint32_t argument) {
  constexpr std::size_t specials = 32;
  const std::vector<std::uint32_t> all = sample_all(Format::float32, sample_count, argument);
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < specials * specials * specials; ++i)
    bits.push_back(all[(i >> (argument * 5)) % specials]);
  bits.insert(bits.end(), all.begin(), all.end());
  const auto range = sample_range(Format::float32, function.low, function.high, sample_count, argument);
  bits.insert(bits.end(), range.begin(), range.end());
  make_whole(bits, (bits.size() + vector_width - 1) / vector_width * vector_width);
  return bits;
}

class VectorMath : public ::testing::TestWithParam<Function> {};

void compare_floats(const Function& function, MathForm form) {
  const auto x = inputs(function, 0), y = inputs(function, 1), z = inputs(function, 2);
  std::vector<float> results(x.size());
  const auto value = [](std::uint32_t bits) { return double{std::bit_cast<float>(bits)}; };
  for (const std::string& processor : runnable_processors()) {
    const MathFunction code(function.instruction("float", form), "float", form, processor);
    code.run(x.data(), y.data(), z.data(), results.data(), x.size());
    Worst worst;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = function.reference(value(x[i]), value(y[i]), value(z[i]));
      const double error = error_of(results[i], expected, Format::float32);
      if (error > worst.error) worst = {error, i};
    }
    const std::size_t i = worst.index;
    EXPECT_LE(worst.error, function.bound) << processor << ": x = " << value(x[i]) << ", y = " << value(y[i])
                                           << ", z = " << value(z[i]) << ": got " << results[i];
    testing::Test::RecordProperty("worst" + processor, fmt::format("{:.3f}", worst.error));
  }
}

TEST_P(VectorMath, Float) { compare_floats(GetParam(), MathForm::vector); }

TEST_P(VectorMath, ScalarFloat) { compare_floats(GetParam(), MathForm::scalar); }

void compare_halves(const Function& function, MathForm form) {
  std::vector<std::uint16_t> x, y, z, results;
  const auto all = every_16_bits();
  const int turns = function.arguments == 1 ? 1 : 4;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      x.push_back(static_cast<std::uint16_t>(all[i]));
      y.push_back(static_cast<std::uint16_t>(all[(i * 40503 + static_cast<std::size_t>(turn) * 7919) % all.size()]));
      z.push_back(static_cast<std::uint16_t>(all[(i * 25173 + static_cast<std::size_t>(turn) * 13849) % all.size()]));
    }
  }
  results.resize(x.size());
  for (const std::string& processor : runnable_processors()) {
    if (!has_conversions_of_half(processor)) continue;
    const MathFunction code(function.instruction("half", form), "half", form, processor);
    code.run(x.data(), y.data(), z.data(), results.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = to_double(x[i], Format::float16), b = to_double(y[i], Format::float16);
      const double c = to_double(z[i], Format::float16), got = to_double(results[i], Format::float16);
      // A product of halves is exact in double, and no sum of these arguments comes near a tie that it is not.
      const double expected = function.name == "fma" ? a * b + c : function.reference(a, b, c);
      ASSERT_LE(error_of(got, expected, Format::float16), function.bound == 0 ? 0 : 1)
          << processor << ": " << a << ", " << b << ", " << c << ": " << got;
    }
  }
}

TEST_P(VectorMath, Half) { compare_halves(GetParam(), MathForm::vector); }

TEST_P(VectorMath, ScalarHalf) { compare_halves(GetParam(), MathForm::scalar); }

TEST_P(VectorMath, DISABLED_EveryFloat) {
  const Function& function = GetParam();
  if (function.arguments != 1) return;
  constexpr std::size_t block = 1 << 16;
  const char* only = std::getenv("METALLOID_PROCESSOR");
  const MathForm form = std::getenv("METALLOID_SCALAR_MATH") ? MathForm::scalar : MathForm::vector;
  const MathFunction code(function.instruction("float", form), "float", form, only ? only : "");
  std::vector<std::uint32_t> x(block);
  std::vector<float> results(block);
  double worst = 0;
  float at = 0;
  std::uint64_t exact = 0;
  for (std::uint64_t from = 0; from < (std::uint64_t{1} << 32); from += block) {
    for (std::size_t i = 0; i < block; ++i) x[i] = static_cast<std::uint32_t>(from + i);
    code.run(x.data(), x.data(), x.data(), results.data(), block);
    for (std::size_t i = 0; i < block; ++i) {
      const float argument = std::bit_cast<float>(x[i]);
      const double expected = function.reference(argument, 0, 0);
      // What is correctly rounded needs no closer look.
      const auto nearest = static_cast<float>(expected);
      if (std::bit_cast<std::uint32_t>(nearest) == std::bit_cast<std::uint32_t>(results[i]) ||
          (std::isnan(expected) && std::isnan(results[i]))) {
        ++exact;
        continue;
      }
      const double error = error_of(results[i], expected, Format::float32);
      if (error > worst) {
        worst = error;
        at = argument;
      }
    }
  }
  fmt::print("| `{}` | {:.2f} | {:a} | {:.1f} % |\n", function.name, worst, at,
             static_cast<double>(exact) / 42949672.96);
  EXPECT_LE(worst, function.bound);
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMath, ::testing::ValuesIn(functions),
                         [](const auto& tested) { return tested.param.name; });

// Exponents are integers of their own.
TEST(VectorMathExponents, ScalingIsRoundedOnce) {
  std::vector<std::uint32_t> x = sample_all(Format::float32, sample_count, 3), k(x.size());
  make_whole(x, (x.size() + vector_width - 1) / vector_width * vector_width);
  k.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) k[i] = static_cast<std::uint32_t>(static_cast<int>(i * 7919 % 601) - 300);
  k[0] = 0x7fffffff, k[1] = 0x80000000;
  std::vector<float> results(x.size());
  for (const std::string& processor : runnable_processors()) {
    for (const MathForm form : {MathForm::vector, MathForm::scalar}) {
      const MathFunction code(form == MathForm::vector ? "call <32 x float> @llvm.ldexp(<32 x float> %x, <32 x i32> %k)"
                                                       : "call float @llvm.ldexp(float %x, i32 %k)",
                              "float", form, processor);
      code.run(x.data(), k.data(), k.data(), results.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float from = std::bit_cast<float>(x[i]);
        const float expected = std::ldexp(from, static_cast<int>(k[i]));
        ASSERT_EQ(error_of(results[i], expected, Format::float32), 0) << processor << ": " << from << " " << int(k[i]);
      }
    }
  }
}

TEST(VectorMathExponents, WholePowers) {
  std::vector<std::uint32_t> x = sample_all(Format::float32, vector_width * 32, 4), n(x.size());
  x.resize(vector_width * 32);
  n.resize(x.size());
  std::vector<float> results(x.size());
  for (const std::string& processor : runnable_processors()) {
    const MathFunction code("call <32 x float> @llvm.powi(<32 x float> %x, i32 %n)", "float", MathForm::vector,
                            processor);
    for (const int power : {0, 1, -1, 2, 3, -3, 17, 100, -101, 123456789, 0x7fffffff, -0x7fffffff - 1}) {
      std::fill(n.begin(), n.end(), static_cast<std::uint32_t>(power));
      code.run(x.data(), n.data(), n.data(), results.data(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double from = std::bit_cast<float>(x[i]);
        ASSERT_LE(error_of(results[i], std::pow(from, power), Format::float32), 16)
            << processor << ": " << from << " to the power of " << power << " gives " << results[i];
      }
    }
  }
}

}  // namespace vector_math_test
}  // namespace metalloid::stdlib_test
