// Vector operators, conversions and functions at run time against the same on scalars; geometric, matrix and packing
// functions against double precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "math_harness.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace vector_test {

using stdlib_test::Format;

struct Type {
  std::string name;
  std::uint32_t size;
  bool is_float;
};

std::ostream& operator<<(std::ostream& stream, const Type& type) { return stream << type.name; }

class VectorOperations : public ::testing::TestWithParam<Type> {};

// One kernel per length compares by itself; out[i] is the number of a checked expression that differs for i, from 1.
TEST_P(VectorOperations, AreScalarOperationsPerComponent) {
  const Type& type = GetParam();
  struct Check {
    std::string whole, part;  // expressions of vectors and of scalars a and b, of type T
    std::string result;       // element type
  };
  std::vector<Check> checks;
  for (const char* text : {"a + b", "a - b", "a * b", "a / b", "max(a, b)", "min(a, b)", "abs(a)", "-a", "+a"}) {
    checks.push_back({text, text, type.name});
  }
  for (const char* text : {"a % b", "a & b", "a | b", "a ^ b", "~a", "a << (b & T(7))", "a >> (b & T(7))"}) {
    if (!type.is_float) checks.push_back({text, text, type.name});
  }
  for (const char* text : {"a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b", "!a", "a && b", "a || b"}) {
    checks.push_back({text, text, "bool"});
  }
  for (const char* to :
       {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat", "float"}) {
    checks.push_back({fmt::format("vec<{}, N>(a)", to), fmt::format("{}(a)", to), to});
  }
  std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (const int n : {2, 3, 4}) {
    source += fmt::format(
        "kernel void compare{1}(device const {0}* in, device uint* out, uint i [[thread_position_in_grid]]) {{\n"
        "  using T = {0}; constexpr int N = {1}; uint wrong = 0;\n  vec<T, N> va, vb;\n"
        "  for (int c = 0; c < N; ++c) va[c] = in[2 * i + c], vb[c] = in[2 * i + 1 + c];\n",
        type.name, n);
    for (std::size_t k = 0; k < checks.size(); ++k) {
      const Check& check = checks[k];
      source += fmt::format("  {{ vec<{}, N> whole; {{ vec<T, N> a = va, b = vb; whole = {}; }}\n", check.result,
                            check.whole);
      for (const char component : std::string("xyzw").substr(0, static_cast<std::size_t>(n))) {
        source += fmt::format("    {{ T a = va.{0}, b = vb.{0}; if (!(whole.{0} == {1}({2}))) wrong = {3}; }}\n",
                              component, check.result, check.part, k + 1);
      }
      source += "  }\n";
    }
    source += "  out[i] = wrong;\n}\n";
  }
  constexpr std::size_t count = 4096;
  Buffer in((2 * count + 8) * type.size);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < 2 * count + 8; ++i) {
    std::uint64_t bits;
    if (type.is_float) {
      const Format format = type.size == 4 ? Format::float32 : type.name == "half" ? Format::float16 : Format::bfloat16;
      bits =
          stdlib_test::round_to(static_cast<double>(static_cast<int>(random() % 2001) - 1000) / 16 + 0.03125, format);
    } else {
      const std::uint64_t small = random() % 5 + 1;
      bits = random() % 3 == 0 ? small : (std::uint64_t{random()} << 32 | random());
      // No division by zero.
      std::uint64_t low = 0;
      std::memcpy(&low, &bits, type.size);
      if (low == 0) bits = 3;
    }
    std::memcpy(static_cast<char*>(in.contents()) + i * type.size, &bits, type.size);
  }
  CompileOptions options;
  options.math_mode = MathMode::safe;
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    const Library library = device.make_library(source, options);
    for (const int n : {2, 3, 4}) {
      Buffer out(count * 4);
      run(library.kernel("compare" + std::to_string(n)),
          Dispatch().buffer(0, in).buffer(1, out).threads({count}, {64}));
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t wrong = out.as<std::uint32_t>()[i];
        ASSERT_EQ(wrong, 0u) << device.name() << " " << type.name << n << ": " << checks[wrong - 1].whole
                             << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, VectorOperations,
                         ::testing::Values(Type{"char", 1, false}, Type{"uchar", 1, false}, Type{"short", 2, false},
                                           Type{"ushort", 2, false}, Type{"int", 4, false}, Type{"uint", 4, false},
                                           Type{"long", 8, false}, Type{"ulong", 8, false}, Type{"half", 2, true},
                                           Type{"bfloat", 2, true}, Type{"float", 4, true}));

// `body` computes results[i * width ...] from in[i * 8 ...].
std::vector<float> compute(const Device& device, const std::string& body, const std::vector<float>& in,
                           std::size_t width) {
  const std::size_t count = in.size() / 8;
  const std::string source = fmt::format(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void k(device const float* all, device float* results, uint i [[thread_position_in_grid]]) {{\n"
      "  device const float* in = all + 8 * i;\n  device float* out = results + {} * i;\n{}\n}}\n",
      width, body);
  CompileOptions options;
  options.math_mode = MathMode::safe;
  Buffer from(in.size() * 4), to(count * width * 4);
  std::memcpy(from.contents(), in.data(), in.size() * 4);
  run(device.make_library(source, options).kernel("k"),
      Dispatch().buffer(0, from).buffer(1, to).threads({static_cast<std::uint32_t>(count)}, {64}));
  return {to.as<float>().begin(), to.as<float>().end()};
}

std::vector<float> numbers(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-4, 4);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

TEST(Geometric, MatchesDoublePrecision) {
  const std::vector<float> in = numbers(8 * 500);
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    const auto got = compute(device, R"(
      float3 a = float3(in[0], in[1], in[2]), b = float3(in[3], in[4], in[5]);
      out[0] = dot(a, b);
      out[1] = length(a);
      out[2] = length_squared(a);
      out[3] = distance(a, b);
      out[4] = distance_squared(a, b);
      packed_float3 c = cross(a, b), n = normalize(a), r = reflect(a, n), f = faceforward(a, b, a);
      for (int k = 0; k < 3; ++k) out[5 + k] = c[k], out[8 + k] = n[k], out[11 + k] = r[k], out[14 + k] = f[k];
      float3 t = refract(float3(n), normalize(b), 0.5f);
      out[17] = t.x, out[18] = t.y, out[19] = t.z;)",
                             in, 20);
    for (std::size_t i = 0; i < in.size() / 8; ++i) {
      double a[3], b[3], ab = 0, aa = 0, bb = 0, dd = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        a[k] = in[8 * i + k], b[k] = in[8 * i + 3 + k];
        ab += a[k] * b[k], aa += a[k] * a[k], bb += b[k] * b[k], dd += (a[k] - b[k]) * (a[k] - b[k]);
      }
      std::vector<double> expected = {ab, std::sqrt(aa), aa, std::sqrt(dd), dd};
      for (std::size_t k = 0; k < 3; ++k)
        expected.push_back(a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
      for (double x : a) expected.push_back(x / std::sqrt(aa));
      for (double x : a) expected.push_back(x - 2 * x);  // reflected by its own direction
      for (double x : a) expected.push_back(ab < 0 ? x : -x);
      const double eta = 0.5, cosine = ab / std::sqrt(aa * bb), k = 1 - eta * eta * (1 - cosine * cosine);
      for (std::size_t c = 0; c < 3; ++c) {
        expected.push_back(eta * a[c] / std::sqrt(aa) - (eta * cosine + std::sqrt(k)) * b[c] / std::sqrt(bb));
      }
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_NEAR(got[20 * i + k], expected[k], 2e-5) << "result " << k << " of " << i;
      }
    }
  }
}

TEST(Matrix, MatchesDoublePrecision) {
  const std::vector<float> in = numbers(8 * 200);
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    // m has columns (0 1 2), (3 4 5); n has columns (6 7), (0 1), (2 3).
    const auto got = compute(device, R"(
      float2x3 m = float2x3(float3(in[0], in[1], in[2]), float3(in[3], in[4], in[5]));
      float3x2 n = float3x2(in[6], in[7], in[0], in[1], in[2], in[3]);
      float3 mv = m * float2(in[6], in[7]);
      float2 vm = float3(in[5], in[6], in[7]) * m;
      float3x3 product = m * n;
      float3x2 sum = transpose(m) + n * 2.0f - n;
      for (int k = 0; k < 3; ++k) out[k] = mv[k];
      out[3] = vm.x, out[4] = vm.y;
      for (int c = 0; c < 3; ++c) for (int r = 0; r < 3; ++r) out[5 + 3 * c + r] = product[c][r];
      for (int c = 0; c < 3; ++c) for (int r = 0; r < 2; ++r) out[14 + 2 * c + r] = sum[c][r];
      float4x4 square = float4x4(in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7],
                                 in[1], in[3], in[5], in[7], in[2], in[0], in[6], in[4]);
      out[20] = determinant(square);
      out[21] = determinant(float3x3(float3(in[0], in[1], in[2]), float3(in[3], in[4], in[5]), float3(in[6], in[7], in[0])));)",
                             in, 22);
    for (std::size_t i = 0; i < in.size() / 8; ++i) {
      const float* v = in.data() + 8 * i;
      const auto m = [&](std::size_t c, std::size_t r) { return double{v[3 * c + r]}; };
      const std::size_t order[] = {6, 7, 0, 1, 2, 3};
      const auto n = [&](std::size_t c, std::size_t r) { return double{v[order[2 * c + r]]}; };
      std::vector<double> expected;
      for (std::size_t r = 0; r < 3; ++r) expected.push_back(m(0, r) * v[6] + m(1, r) * v[7]);
      for (std::size_t c = 0; c < 2; ++c) expected.push_back(m(c, 0) * v[5] + m(c, 1) * v[6] + m(c, 2) * v[7]);
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t r = 0; r < 3; ++r) expected.push_back(m(0, r) * n(c, 0) + m(1, r) * n(c, 1));
      }
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t r = 0; r < 2; ++r) expected.push_back(m(r, c) + n(c, r));
      }
      // Gaussian elimination for the determinants.
      const auto determinant = [](std::vector<std::vector<double>> a) {
        double result = 1;
        for (std::size_t c = 0; c < a.size(); ++c) {
          std::size_t pivot = c;
          for (std::size_t r = c; r < a.size(); ++r) {
            if (std::fabs(a[r][c]) > std::fabs(a[pivot][c])) pivot = r;
          }
          if (pivot != c) std::swap(a[c], a[pivot]), result = -result;
          result *= a[c][c];
          for (std::size_t r = c + 1; r < a.size(); ++r) {
            for (std::size_t k = a.size(); k-- > c;) a[r][k] -= a[c][k] * a[r][c] / a[c][c];
          }
        }
        return result;
      };
      expected.push_back(determinant(
          {{v[0], v[1], v[2], v[3]}, {v[4], v[5], v[6], v[7]}, {v[1], v[3], v[5], v[7]}, {v[2], v[0], v[6], v[4]}}));
      expected.push_back(determinant({{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[0]}}));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_NEAR(got[22 * i + k], expected[k], 1e-3) << "result " << k << " of " << i;
      }
    }
  }
}

TEST(Packing, UnpacksWhatItPacks) {
  const std::string source = R"(
    #include <metal_stdlib>
    using namespace metal;
    kernel void k(device const uint* words, device uint* out, device float4* values, uint i [[thread_position_in_grid]]) {
      const uint w = words[i];
      out[8 * i] = pack_float_to_unorm4x8(unpack_unorm4x8_to_float(w));
      out[8 * i + 1] = pack_float_to_unorm2x16(unpack_unorm2x16_to_float(w));
      out[8 * i + 2] = pack_half_to_unorm4x8(unpack_unorm4x8_to_half(w));
      out[8 * i + 3] = pack_float_to_unorm10a2(unpack_unorm10a2_to_float(w));
      out[8 * i + 4] = pack_float_to_unorm565(unpack_unorm565_to_float(ushort(w)));
      out[8 * i + 5] = pack_float_to_srgb_unorm4x8(unpack_unorm4x8_srgb_to_float(w));
      out[8 * i + 6] = pack_float_to_snorm4x8(unpack_snorm4x8_to_float(w));
      out[8 * i + 7] = pack_float_to_snorm2x16(unpack_snorm2x16_to_float(w));
      values[i] = unpack_snorm4x8_to_float(w);
    })";
  constexpr std::size_t count = 2000;
  Buffer words(count * 4), out(count * 32), values(count * 16);
  std::mt19937 random(1);
  for (std::uint32_t& word : words.as<std::uint32_t>()) word = random();
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    run(device.make_library(source).kernel("k"),
        Dispatch().buffer(0, words).buffer(1, out).buffer(2, values).threads({count}, {100}));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t word = words.as<std::uint32_t>()[i];
      const std::uint32_t* got = out.as<std::uint32_t>().data() + 8 * i;
      for (std::size_t k : {0u, 1u, 2u, 3u, 5u}) ASSERT_EQ(got[k], word) << k;
      ASSERT_EQ(got[4], word & 0xffffu);
      // The most negative number stands for -1 like its neighbour and comes back as that.
      std::uint32_t expected = 0;
      for (int byte = 0; byte < 4; ++byte) {
        const std::uint32_t part = (word >> (8 * byte)) & 0xffu;
        expected |= (part == 0x80 ? 0x81u : part) << (8 * byte);
        const double value = std::max(static_cast<double>(static_cast<std::int8_t>(part)) / 127, -1.0);
        ASSERT_NEAR(values.as<float>()[4 * i + static_cast<std::size_t>(byte)], value, 1e-7);
      }
      ASSERT_EQ(got[6], expected);
      expected = 0;
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t part = (word >> (16 * half)) & 0xffffu;
        expected |= (part == 0x8000 ? 0x8001u : part) << (16 * half);
      }
      ASSERT_EQ(got[7], expected);
    }
  }
}

TEST(Relational, ClassifiesEveryHalf) {
  const std::string source = R"(
    using namespace metal;
    kernel void k(device const half* in, device uint* out, uint i [[thread_position_in_grid]]) {
      const half x = in[i];
      const half2 v = half2(1, x);
      out[i] = uint(isfinite(x)) | uint(isinf(x)) << 1 | uint(isnan(x)) << 2 | uint(isnormal(x)) << 3 | uint(signbit(x)) << 4 |
               uint(isordered(x, 1.0h)) << 5 | uint(isunordered(1.0h, x)) << 6 | uint(any(isnan(v))) << 7 |
               uint(all(isfinite(v))) << 8 | uint(isnan(float(x))) << 9;
    })";
  Buffer in(65536 * 2), out(65536 * 4);
  for (std::uint32_t i = 0; i < 65536; ++i) in.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    run(device.make_library(source).kernel("k"), Dispatch().buffer(0, in).buffer(1, out).threads({65536}, {256}));
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const double x = stdlib_test::to_double(i, Format::float16);
      const bool nan = std::isnan(x);
      const std::uint32_t expected = std::uint32_t{std::isfinite(x)} | std::uint32_t{std::isinf(x)} << 1 |
                                     std::uint32_t{nan} << 2 |
                                     std::uint32_t{std::isfinite(x) && std::fabs(x) >= 0x1p-14} << 3 | (i >> 15) << 4 |
                                     std::uint32_t{!nan} << 5 | std::uint32_t{nan} << 6 | std::uint32_t{nan} << 7 |
                                     std::uint32_t{std::isfinite(x)} << 8 | std::uint32_t{nan} << 9;
      ASSERT_EQ(out.as<std::uint32_t>()[i], expected) << std::hex << i;
    }
  }
}

}  // namespace vector_test
}  // namespace metalloid
