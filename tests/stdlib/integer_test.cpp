// Integer functions (MSL spec §6.4) of every type against 128-bit arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "math_harness.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace integer_test {

using Wide = __int128;

struct Type {
  std::string name;
  int bits;
  bool is_signed;

  Wide low() const { return is_signed ? -(Wide{1} << (bits - 1)) : 0; }
  Wide high() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  // The low bits of any number, as a value of the type.
  Wide wrap(Wide value) const {
    const Wide mask = (Wide{1} << bits) - 1, low_bits = value & mask;
    return is_signed && (low_bits >> (bits - 1)) ? low_bits - (Wide{1} << bits) : low_bits;
  }
  Wide unsigned_bits(Wide value) const { return value & ((Wide{1} << bits) - 1); }
  Wide saturate(Wide value) const { return std::clamp(value, low(), high()); }
};

std::ostream& operator<<(std::ostream& stream, const Type& type) { return stream << type.name; }

struct Function {
  std::string expression;
  Wide (*reference)(const Type& type, Wide x, Wide y, Wide z);
};

Wide rotate_left(const Type& type, Wide x, Wide count) {
  const int by = static_cast<int>(type.unsigned_bits(count) % type.bits);
  const Wide bits = type.unsigned_bits(x);
  return type.wrap((bits << by) | (bits >> (type.bits - by)));
}

Wide leading_zeros(const Type& type, Wide x) {
  int count = 0;
  while (count < type.bits && !((type.unsigned_bits(x) >> (type.bits - 1 - count)) & 1)) ++count;
  return count;
}

Wide trailing_zeros(const Type& type, Wide x) {
  int count = 0;
  while (count < type.bits && !((type.unsigned_bits(x) >> count) & 1)) ++count;
  return count;
}

Wide population(const Type& type, Wide x) {
  int count = 0;
  for (int i = 0; i < type.bits; ++i) count += static_cast<int>((type.unsigned_bits(x) >> i) & 1);
  return count;
}

Wide reversed(const Type& type, Wide x) {
  Wide result = 0;
  for (int i = 0; i < type.bits; ++i) result |= ((type.unsigned_bits(x) >> i) & 1) << (type.bits - 1 - i);
  return type.wrap(result);
}

// Floor, also of negative numbers.
Wide half_of(Wide x) { return x >> 1; }

// Products of 64-bit numbers with a third summand do not fit 128 bits when unsigned and large; saturation makes
// that harmless: anything over the type's range counts as over.
Wide multiply_add_saturating(const Type& type, Wide x, Wide y, Wide z) {
  if (!type.is_signed && type.bits == 64 && x != 0 && y > type.high() / x) return type.high();
  return type.saturate(x * y + z);
}

const Function functions[] = {
    {"abs(x)", [](const Type& t, Wide x, Wide, Wide) { return t.wrap(x < 0 ? -x : x); }},
    {"absdiff(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return t.wrap(x < y ? y - x : x - y); }},
    {"addsat(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return t.saturate(x + y); }},
    {"subsat(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return t.saturate(x - y); }},
    {"clamp(x, min(y, z), max(y, z))",
     [](const Type&, Wide x, Wide y, Wide z) { return std::clamp(x, std::min(y, z), std::max(y, z)); }},
    {"clz(x)", [](const Type& t, Wide x, Wide, Wide) { return leading_zeros(t, x); }},
    {"ctz(x)", [](const Type& t, Wide x, Wide, Wide) { return trailing_zeros(t, x); }},
    {"popcount(x)", [](const Type& t, Wide x, Wide, Wide) { return population(t, x); }},
    {"reverse_bits(x)", [](const Type& t, Wide x, Wide, Wide) { return reversed(t, x); }},
    {"hadd(x, y)", [](const Type&, Wide x, Wide y, Wide) { return half_of(x + y); }},
    {"rhadd(x, y)", [](const Type&, Wide x, Wide y, Wide) { return half_of(x + y + 1); }},
    {"max(x, y)", [](const Type&, Wide x, Wide y, Wide) { return std::max(x, y); }},
    {"min(x, y)", [](const Type&, Wide x, Wide y, Wide) { return std::min(x, y); }},
    {"max3(x, y, z)", [](const Type&, Wide x, Wide y, Wide z) { return std::max({x, y, z}); }},
    {"min3(x, y, z)", [](const Type&, Wide x, Wide y, Wide z) { return std::min({x, y, z}); }},
    {"median3(x, y, z)",
     [](const Type&, Wide x, Wide y, Wide z) { return x + y + z - std::max({x, y, z}) - std::min({x, y, z}); }},
    {"mulhi(x, y)",
     [](const Type& t, Wide x, Wide y, Wide) {
       // Unsigned, lest the product of two ulongs becomes negative.
       if (!t.is_signed)
         return static_cast<Wide>((static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)) >> t.bits);
       return (x * y) >> t.bits;
     }},
    {"madhi(x, y, z)",
     [](const Type& t, Wide x, Wide y, Wide z) {
       if (!t.is_signed)
         return t.wrap(
             static_cast<Wide>((static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)) >> t.bits) + z);
       return t.wrap(((x * y) >> t.bits) + z);
     }},
    {"madsat(x, y, z)", multiply_add_saturating},
    {"rotate(x, y)", [](const Type& t, Wide x, Wide y, Wide) { return rotate_left(t, x, y); }},
    {"extract_bits(x, 3, 4)",
     [](const Type& t, Wide x, Wide, Wide) {
       const Wide field = (t.unsigned_bits(x) >> 3) & 15;
       return t.is_signed && (field & 8) ? field - 16 : field;
     }},
    {"insert_bits(x, y, 2, 5)", [](const Type& t, Wide x, Wide y,
                                   Wide) { return t.wrap((t.unsigned_bits(x) & ~(Wide{31} << 2)) | ((y & 31) << 2)); }},
    {"x << y",
     [](const Type& t, Wide x, Wide y, Wide) {
       // Narrow types shift as int.
       const int width = std::max(t.bits, 32);
       return t.wrap(t.unsigned_bits(x) << static_cast<int>(y & (width - 1)));
     }},
    {"x >> y",
     [](const Type& t, Wide x, Wide y, Wide) {
       const int width = std::max(t.bits, 32);
       return x >> static_cast<int>(y & (width - 1));
     }},
};

class IntegerFunctions : public ::testing::TestWithParam<Type> {};

TEST_P(IntegerFunctions, MatchWideArithmetic) {
  const Type& type = GetParam();
  constexpr std::size_t count = 20'000;
  const std::size_t size = static_cast<std::size_t>(type.bits) / 8;
  std::mt19937_64 random(type.bits);
  Buffer arguments[3] = {Buffer(count * size), Buffer(count * size), Buffer(count * size)};
  std::vector<Wide> values[3];
  const Wide special[] = {0, 1, -1, 2, 31, 32, 63, type.low(), type.low() + 1, type.high(), type.high() - 1};
  for (int a = 0; a < 3; ++a) {
    for (std::size_t i = 0; i < count; ++i) {
      // Specials meet specials, then numbers of every magnitude.
      const std::uint64_t bits = random();
      const int shift = static_cast<int>(random() % 64);
      const std::size_t pick = a == 0 ? i % 11 : a == 1 ? i / 11 % 11 : i / 121 % 11;
      const Wide value = i < 11 * 11 * 11 ? special[pick] : static_cast<Wide>(static_cast<std::int64_t>(bits) >> shift);
      values[a].push_back(type.wrap(value));
      std::memcpy(static_cast<char*>(arguments[a].contents()) + i * size, &values[a].back(), size);
    }
  }
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (std::size_t f = 0; f < std::size(functions); ++f) {
    source += fmt::format(
        "kernel void f{0}(device const {1}* xs, device const {1}* ys, device const {1}* zs, device {1}* out,\n"
        "    uint i [[thread_position_in_grid]]) {{ {1} x = xs[i], y = ys[i], z = zs[i]; out[i] = {1}({2}); }}\n"
        "kernel void v{0}(device const {1}* xs, device const {1}* ys, device const {1}* zs, device {1}* out,\n"
        "    uint i [[thread_position_in_grid]]) {{ {1}3 x = xs[i], y = ys[i], z = zs[i]; out[i] = {1}3({2}).y; }}\n",
        f, type.name, functions[f].expression);
  }
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    const Library library = device.make_library(source);
    for (std::size_t f = 0; f < std::size(functions); ++f) {
      for (const char* form : {"f", "v"}) {
        // A shift of a narrow vector stays narrow, unlike a scalar's.
        if (*form == 'v' && functions[f].expression.starts_with("x ") && type.bits < 32) continue;
        SCOPED_TRACE(device.name() + " " + form + " " + type.name + " " + functions[f].expression);
        Buffer results(count * size);
        run(library.kernel(form + std::to_string(f)), Dispatch()
                                                          .buffer(0, arguments[0])
                                                          .buffer(1, arguments[1])
                                                          .buffer(2, arguments[2])
                                                          .buffer(3, results)
                                                          .threads({count}, {256}));
        for (std::size_t i = 0; i < count; ++i) {
          std::int64_t got_bits = 0;
          std::memcpy(&got_bits, static_cast<char*>(results.contents()) + i * size, size);
          const Wide got = type.wrap(got_bits);
          const Wide expected = type.wrap(functions[f].reference(type, values[0][i], values[1][i], values[2][i]));
          ASSERT_TRUE(got == expected) << "x = " << static_cast<long long>(values[0][i])
                                       << ", y = " << static_cast<long long>(values[1][i])
                                       << ", z = " << static_cast<long long>(values[2][i]) << ": got "
                                       << static_cast<long long>(got) << ", expected "
                                       << static_cast<long long>(expected);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerFunctions,
                         ::testing::Values(Type{"char", 8, true}, Type{"uchar", 8, false}, Type{"short", 16, true},
                                           Type{"ushort", 16, false}, Type{"int", 32, true}, Type{"uint", 32, false},
                                           Type{"long", 64, true}, Type{"ulong", 64, false}));

TEST(IntegerFunctions, TwentyFourBits) {
  constexpr std::size_t count = 10'000;
  std::mt19937 random(24);
  Buffer x(count * 4), y(count * 4), z(count * 4), products(count * 4), sums(count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    // Signed numbers of 24 bits.
    x.as<std::int32_t>()[i] = static_cast<std::int32_t>(random()) >> 8;
    y.as<std::int32_t>()[i] = static_cast<std::int32_t>(random()) >> 8;
    z.as<std::int32_t>()[i] = static_cast<std::int32_t>(random());
  }
  const std::string source = R"(
    using namespace metal;
    kernel void f(device const int* x, device const int* y, device const int* z, device int* products,
                  device int* sums, uint i [[thread_position_in_grid]]) {
      products[i] = mul24(x[i], y[i]);
      sums[i] = mad24(x[i], y[i], z[i]);
    })";
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    run(device.make_library(source).kernel("f"),
        Dispatch().buffer(0, x).buffer(1, y).buffer(2, z).buffer(3, products).buffer(4, sums).threads({count}, {100}));
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t product = std::int64_t{x.as<std::int32_t>()[i]} * y.as<std::int32_t>()[i];
      ASSERT_EQ(products.as<std::int32_t>()[i], static_cast<std::int32_t>(product));
      ASSERT_EQ(sums.as<std::int32_t>()[i], static_cast<std::int32_t>(product + z.as<std::int32_t>()[i]));
    }
  }
}

}  // namespace integer_test
}  // namespace metalloid
