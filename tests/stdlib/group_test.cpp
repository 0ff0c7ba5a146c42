// SIMD-group and quad-group functions (MSL spec §6.9) for every type, in whole and partial groups, against a model
// that sees all lanes at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "math_harness.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace group_test {

using stdlib_test::Format;

struct Type {
  std::string name;
  std::uint32_t size;  // bytes of one element
  bool is_float = false;
  int lanes = 1;             // components
  std::uint32_t stride = 0;  // bytes of the whole value
};

std::ostream& operator<<(std::ostream& stream, const Type& type) { return stream << type.name; }

Format format_of(const Type& type) {
  if (type.size == 4) return Format::float32;
  return type.name.starts_with("bfloat") ? Format::bfloat16 : Format::float16;
}

void write(const Type& type, void* place, double value) {
  std::uint64_t bits;
  if (type.is_float) {
    bits = stdlib_test::round_to(value, format_of(type));
  } else {
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  std::memcpy(place, &bits, type.size);
}

double read(const Type& type, const void* place) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, place, type.size);
  if (type.is_float) return stdlib_test::to_double(static_cast<std::uint32_t>(bits), format_of(type));
  return static_cast<double>(bits);  // the tests' integers are small and not negative
}

// Small enough for exact sums in eight bits and in bfloat, products included.
double value_of(std::size_t thread, int component) {
  return thread % 5 == 0 ? 2 : static_cast<double>((thread + static_cast<std::size_t>(component)) % 2);
}
double fill_of(std::size_t thread, int component) {
  return 4 + static_cast<double>(thread % 3 + static_cast<std::size_t>(component));
}

// The values of one group's lanes, and one lane's result.
using Lanes = std::vector<double>;
struct Case {
  std::string expression;  // of `value`, `fill` and GROUP for simd or quad
  double (*model)(const Lanes& values, const Lanes& fills, std::size_t lane, std::size_t width);
};

double at(const Lanes& values, long long source, std::size_t lane) {
  return source >= 0 && source < static_cast<long long>(values.size()) ? values[static_cast<std::size_t>(source)]
                                                                       : values[lane];
}

const Case cases[] = {
    {"GROUP_sum(value)",
     [](const Lanes& v, const Lanes&, std::size_t, std::size_t) {
       double sum = 0;
       for (double x : v) sum += x;
       return sum;
     }},
    {"GROUP_min(value)",
     [](const Lanes& v, const Lanes&, std::size_t, std::size_t) { return *std::ranges::min_element(v); }},
    {"GROUP_max(value)",
     [](const Lanes& v, const Lanes&, std::size_t, std::size_t) { return *std::ranges::max_element(v); }},
    {"GROUP_prefix_inclusive_sum(value)",
     [](const Lanes& v, const Lanes&, std::size_t lane, std::size_t) {
       double sum = 0;
       for (std::size_t i = 0; i <= lane; ++i) sum += v[i];
       return sum;
     }},
    {"GROUP_prefix_exclusive_sum(value)",
     [](const Lanes& v, const Lanes&, std::size_t lane, std::size_t) {
       double sum = 0;
       for (std::size_t i = 0; i < lane; ++i) sum += v[i];
       return sum;
     }},
    {"GROUP_broadcast(value, 1)",
     [](const Lanes& v, const Lanes&, std::size_t lane, std::size_t) { return at(v, 1, lane); }},
    {"GROUP_broadcast_first(value)", [](const Lanes& v, const Lanes&, std::size_t, std::size_t) { return v[0]; }},
    {"GROUP_shuffle(value, ushort(i % 2))", [](const Lanes& v, const Lanes&, std::size_t lane,
                                               std::size_t) { return at(v, static_cast<long long>(lane % 2), lane); }},
    {"GROUP_shuffle_up(value, 1)", [](const Lanes& v, const Lanes&, std::size_t lane,
                                      std::size_t) { return at(v, static_cast<long long>(lane) - 1, lane); }},
    {"GROUP_shuffle_down(value, 1)", [](const Lanes& v, const Lanes&, std::size_t lane,
                                        std::size_t) { return at(v, static_cast<long long>(lane) + 1, lane); }},
    {"GROUP_shuffle_xor(value, 1)", [](const Lanes& v, const Lanes&, std::size_t lane,
                                       std::size_t) { return at(v, static_cast<long long>(lane ^ 1), lane); }},
};

class GroupFunctions : public ::testing::TestWithParam<Type> {};

constexpr std::size_t threads = 80, group_size = 40;  // threadgroups of one whole and one quarter simdgroup

TEST_P(GroupFunctions, MatchTheModel) {
  const Type& type = GetParam();
  Buffer values(threads * type.stride), fills(threads * type.stride);
  const auto component = [&](const Buffer& buffer, std::size_t thread, int c) {
    return static_cast<char*>(buffer.contents()) + thread * type.stride + static_cast<std::size_t>(c) * type.size;
  };
  for (std::size_t t = 0; t < threads; ++t) {
    for (int c = 0; c < type.lanes; ++c) {
      write(type, component(values, t, c), value_of(t, c));
      write(type, component(fills, t, c), fill_of(t, c));
    }
  }
  for (const std::string group : {"simd", "quad"}) {
    const std::size_t width = group == "simd" ? 32 : 4;
    std::string source = "#include <metal_stdlib>\nusing namespace metal;\n";
    for (std::size_t k = 0; k < std::size(cases); ++k) {
      std::string expression = cases[k].expression;
      for (std::size_t p; (p = expression.find("GROUP")) != std::string::npos;) expression.replace(p, 5, group);
      source += fmt::format(
          "kernel void k{0}(device const {1}* values, device const {1}* fills, device {1}* out,\n"
          "                 uint i [[thread_position_in_grid]]) {{\n"
          "  {1} value = values[i], fill = fills[i];\n  out[i] = {2};\n}}\n",
          k, type.name, expression);
    }
    for (const Device& device : stdlib_test::devices_with_own_code()) {
      const Library library = device.make_library(source);
      for (std::size_t k = 0; k < std::size(cases); ++k) {
        SCOPED_TRACE(device.name() + " " + group + " " + type.name + " " + cases[k].expression);
        Buffer results(threads * type.stride);
        run(library.kernel("k" + std::to_string(k)),
            Dispatch().buffer(0, values).buffer(1, fills).buffer(2, results).threads({threads}, {group_size}));
        for (std::size_t t = 0; t < threads; ++t) {
          const std::size_t first_of_threadgroup = t / group_size * group_size;
          const std::size_t in_group = t - first_of_threadgroup;
          const std::size_t first = first_of_threadgroup + in_group / width * width;
          const std::size_t end = std::min(first + width, first_of_threadgroup + group_size);
          for (int c = 0; c < type.lanes; ++c) {
            Lanes lanes, lane_fills;
            for (std::size_t i = first; i < end; ++i) {
              lanes.push_back(value_of(i, c));
              lane_fills.push_back(fill_of(i, c));
            }
            ASSERT_EQ(read(type, component(results, t, c)), cases[k].model(lanes, lane_fills, t - first, width))
                << "thread " << t << ", component " << c;
          }
        }
      }
    }
  }
}

// Whole groups only: rotations and fills wrap around.
TEST_P(GroupFunctions, RotateAndFill) {
  const Type& type = GetParam();
  constexpr std::size_t count = 64;
  Buffer values(count * type.stride), fills(count * type.stride);
  const auto component = [&](const Buffer& buffer, std::size_t thread, int c) {
    return static_cast<char*>(buffer.contents()) + thread * type.stride + static_cast<std::size_t>(c) * type.size;
  };
  // All different within a simdgroup and exact in every type.
  const auto number = [](std::size_t t, int c) {
    return static_cast<double>((t + 3 * static_cast<std::size_t>(c)) % 64);
  };
  const auto filler = [](std::size_t t, int c) {
    return static_cast<double>(64 + (t + static_cast<std::size_t>(c)) % 32);
  };
  for (std::size_t t = 0; t < count; ++t) {
    for (int c = 0; c < type.lanes; ++c) {
      write(type, component(values, t, c), number(t, c));
      write(type, component(fills, t, c), filler(t, c));
    }
  }
  for (const std::string group : {"simd", "quad"}) {
    const std::size_t width = group == "simd" ? 32 : 4;
    for (const std::size_t modulo : {width, std::size_t{2}}) {
      const std::size_t delta = modulo == 2 ? 1 : 3;
      const std::string source = fmt::format(
          "using namespace metal;\n"
          "kernel void k(device const {0}* values, device const {0}* fills, device {0}* up, device {0}* down,\n"
          "              device {0}* rotated_up, device {0}* rotated_down, uint i [[thread_position_in_grid]]) {{\n"
          "  up[i] = {1}_shuffle_and_fill_up(values[i], fills[i], {2}{3});\n"
          "  down[i] = {1}_shuffle_and_fill_down(values[i], fills[i], {2}{3});\n"
          "  rotated_up[i] = {1}_shuffle_rotate_up(values[i], {2});\n"
          "  rotated_down[i] = {1}_shuffle_rotate_down(values[i], {2});\n}}\n",
          type.name, group, delta, modulo == width ? "" : fmt::format(", {}", modulo));
      for (const Device& device : stdlib_test::devices_with_own_code()) {
        SCOPED_TRACE(fmt::format("{} {} {} modulo {}", device.name(), group, type.name, modulo));
        Buffer up(count * type.stride), down(count * type.stride), rotated_up(count * type.stride),
            rotated_down(count * type.stride);
        run(device.make_library(source).kernel("k"), Dispatch()
                                                         .buffer(0, values)
                                                         .buffer(1, fills)
                                                         .buffer(2, up)
                                                         .buffer(3, down)
                                                         .buffer(4, rotated_up)
                                                         .buffer(5, rotated_down)
                                                         .threads({count}, {count}));
        for (std::size_t t = 0; t < count; ++t) {
          const std::size_t lane = t % width, first = t - lane, position = t % modulo, run_start = t - position;
          for (int c = 0; c < type.lanes; ++c) {
            const double expected_up =
                position >= delta ? number(t - delta, c) : filler(run_start + modulo - delta + position, c);
            const double expected_down =
                position + delta < modulo ? number(t + delta, c) : filler(run_start + position + delta - modulo, c);
            ASSERT_EQ(read(type, component(up, t, c)), expected_up) << t;
            ASSERT_EQ(read(type, component(down, t, c)), expected_down) << t;
            ASSERT_EQ(read(type, component(rotated_up, t, c)), number(first + (lane + width - delta) % width, c)) << t;
            ASSERT_EQ(read(type, component(rotated_down, t, c)), number(first + (lane + delta) % width, c)) << t;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, GroupFunctions,
    ::testing::Values(Type{"char", 1, false, 1, 1}, Type{"uchar", 1, false, 1, 1}, Type{"short", 2, false, 1, 2},
                      Type{"ushort", 2, false, 1, 2}, Type{"int", 4, false, 1, 4}, Type{"uint", 4, false, 1, 4},
                      Type{"long", 8, false, 1, 8}, Type{"ulong", 8, false, 1, 8}, Type{"half", 2, true, 1, 2},
                      Type{"bfloat", 2, true, 1, 2}, Type{"float", 4, true, 1, 4}, Type{"uchar4", 1, false, 4, 4},
                      Type{"half3", 2, true, 3, 8}, Type{"bfloat4", 2, true, 4, 8}, Type{"float2", 4, true, 2, 8},
                      Type{"float3", 4, true, 3, 16}, Type{"int4", 4, false, 4, 16}, Type{"long2", 8, false, 2, 16},
                      Type{"ulong4", 8, false, 4, 32}));

TEST(GroupVotes, SeeTheirLanes) {
  const std::string source = R"(
    using namespace metal;
    kernel void k(device uint4* simd, device uint4* quad, device uint2* masks, device bool* shuffled,
                  uint i [[thread_position_in_grid]]) {
      simd[i] = uint4(simd_all(i < 32), simd_any(i == 33), uint(ulong(simd_ballot(i % 3 == 0))), simd_is_first());
      quad[i] = uint4(quad_all(i % 4 < 3 || i > 20), quad_any(i % 8 == 5), uint(ulong(quad_ballot(i % 3 == 0))),
                      quad_is_first());
      masks[i] = uint2(uint(ulong(simd_active_threads_mask())), uint(ulong(quad_active_threads_mask())));
      shuffled[i] = simd_shuffle_xor(i % 2 == 0, 1);
    })";
  constexpr std::size_t count = 42;  // the last simdgroup has ten lanes, the last quadgroup two
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    Buffer simd(count * 16), quad(count * 16), masks(count * 8), shuffled(count);
    run(device.make_library(source).kernel("k"),
        Dispatch().buffer(0, simd).buffer(1, quad).buffer(2, masks).buffer(3, shuffled).threads({count}, {count}));
    for (std::size_t t = 0; t < count; ++t) {
      const auto ballot = [&](std::size_t width, auto condition) {
        std::uint32_t bits = 0;
        const std::size_t first = t / width * width;
        for (std::size_t i = first; i < std::min(first + width, count); ++i)
          bits |= std::uint32_t{condition(i)} << (i - first);
        return bits;
      };
      const auto all = [&](std::size_t width, auto condition) {
        return std::uint32_t{ballot(width, condition) == ballot(width, [](std::size_t) { return true; })};
      };
      const std::uint32_t* s = simd.as<std::uint32_t>().data() + 4 * t;
      const std::uint32_t* q = quad.as<std::uint32_t>().data() + 4 * t;
      const auto third = [](std::size_t i) { return i % 3 == 0; };
      EXPECT_EQ(s[0], all(32, [](std::size_t i) { return i < 32; }));
      EXPECT_EQ(s[1], ballot(32, [](std::size_t i) { return i == 33; }) != 0);
      EXPECT_EQ(s[2], ballot(32, third));
      EXPECT_EQ(s[3], t % 32 == 0);
      EXPECT_EQ(q[0], all(4, [](std::size_t i) { return i % 4 < 3 || i > 20; }));
      EXPECT_EQ(q[1], ballot(4, [](std::size_t i) { return i % 8 == 5; }) != 0);
      EXPECT_EQ(q[2], ballot(4, third));
      EXPECT_EQ(q[3], t % 4 == 0);
      EXPECT_EQ(masks.as<std::uint32_t>()[2 * t], ballot(32, [](std::size_t) { return true; }));
      EXPECT_EQ(masks.as<std::uint32_t>()[2 * t + 1], ballot(4, [](std::size_t) { return true; }));
      EXPECT_EQ(shuffled.as<std::uint8_t>()[t], t % 2 == 1);
    }
  }
}

TEST(GroupReductions, ProductsAndBits) {
  const std::string source = R"(
    using namespace metal;
    kernel void k(device const uint* in, device uint4* bits, device float4* products, device short2* narrow,
                  uint i [[thread_position_in_grid]]) {
      bits[i] = uint4(simd_and(in[i]), simd_or(in[i]), simd_xor(in[i]), quad_xor(in[i]));
      const float x = i % 7 == 0 ? 2.0f : 1.0f;
      products[i] = float4(simd_product(x), simd_prefix_inclusive_product(x), simd_prefix_exclusive_product(x),
                           quad_product(x));
      narrow[i] = short2(simd_and(short(in[i])), simd_max(short(-1 - short(i))));
    })";
  constexpr std::size_t count = 32;
  Buffer in(count * 4);
  for (std::size_t i = 0; i < count; ++i)
    in.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(i * 2654435761u) | 0x40u;
  for (const Device& device : stdlib_test::devices_with_own_code()) {
    SCOPED_TRACE(device.name());
    Buffer bits(count * 16), products(count * 16), narrow(count * 4);
    run(device.make_library(source).kernel("k"),
        Dispatch().buffer(0, in).buffer(1, bits).buffer(2, products).buffer(3, narrow).threads({count}, {count}));
    std::uint32_t all = ~0u, any = 0, odd = 0;
    for (std::uint32_t x : in.as<std::uint32_t>()) all &= x, any |= x, odd ^= x;
    float product = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t* b = bits.as<std::uint32_t>().data() + 4 * i;
      EXPECT_EQ(b[0], all);
      EXPECT_EQ(b[1], any);
      EXPECT_EQ(b[2], odd);
      std::uint32_t quad_odd = 0;
      float quad_product = 1;
      for (std::size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j) {
        quad_odd ^= in.as<std::uint32_t>()[j];
        quad_product *= j % 7 == 0 ? 2 : 1;
      }
      EXPECT_EQ(b[3], quad_odd);
      const float x = i % 7 == 0 ? 2 : 1;
      const float* p = products.as<float>().data() + 4 * i;
      EXPECT_EQ(p[0], 32.0f);  // 0, 7, 14, 21, 28
      EXPECT_EQ(p[1], product * x);
      EXPECT_EQ(p[2], product);
      EXPECT_EQ(p[3], quad_product);
      product *= x;
      EXPECT_EQ(narrow.as<std::int16_t>()[2 * i], static_cast<std::int16_t>(all));
      EXPECT_EQ(narrow.as<std::int16_t>()[2 * i + 1], -1);
    }
  }
}

// Apple leaves the lanes' elements open; kernels rely on this assignment.
TEST(SimdgroupMatrix, LayoutAndProduct) {
  const std::string source = R"(
    using namespace metal;
    kernel void k(device const float* a, device const half* b, device float* c, device float2* elements,
                  device float* transposed, uint lane [[thread_index_in_simdgroup]]) {
      simdgroup_float8x8 left, product = simdgroup_float8x8(10.0f);
      simdgroup_half8x8 right;
      simdgroup_load(left, a, 8);
      simdgroup_load(right, b, 16, ulong2(8, 1));
      elements[lane] = left.thread_elements();
      simdgroup_multiply_accumulate(product, left, right, product);
      simdgroup_store(product, c, 8);
      simdgroup_load(left, a, 8, 0, true);
      simdgroup_store(left, transposed, 8);
    })";
  Buffer a(64 * 4), b(16 * 16 * 2), c(64 * 4), elements(64 * 4), transposed(64 * 4);
  const auto a_of = [](int row, int column) { return static_cast<double>(row * 3 - column); };
  const auto b_of = [](int row, int column) { return static_cast<double>((row * 5 + column) % 7); };
  for (int i = 0; i < 64; ++i) a.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(a_of(i / 8, i % 8));
  for (int i = 0; i < 256; ++i) {
    b.as<std::uint16_t>()[static_cast<std::size_t>(i)] =
        static_cast<std::uint16_t>(stdlib_test::round_to(b_of(i / 16 - 1, i % 16 - 8), Format::float16));
  }
  for (const Device& device : Device::all()) {
    SCOPED_TRACE(device.name());
    run(device.make_library(source).kernel("k"), Dispatch()
                                                     .buffer(0, a)
                                                     .buffer(1, b)
                                                     .buffer(2, c)
                                                     .buffer(3, elements)
                                                     .buffer(4, transposed)
                                                     .threads({32}, {32}));
    for (int lane = 0; lane < 32; ++lane) {
      const int quad = lane / 4, row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
      for (int e = 0; e < 2; ++e) {
        EXPECT_EQ(elements.as<float>()[static_cast<std::size_t>(2 * lane + e)], a_of(row, column + e)) << lane;
      }
    }
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        double expected = row == column ? 10 : 0;
        for (int k = 0; k < 8; ++k) expected += a_of(row, k) * b_of(k, column);
        EXPECT_EQ(c.as<float>()[static_cast<std::size_t>(8 * row + column)], expected) << row << ", " << column;
        EXPECT_EQ(transposed.as<float>()[static_cast<std::size_t>(8 * row + column)], a_of(column, row));
      }
    }
  }
}

}  // namespace group_test
}  // namespace metalloid
