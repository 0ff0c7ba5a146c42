// matmul2d against its definition, in safe mode to the last bit: each sum is the chain fma(a[k-1], b[k-1], ...
// fma(a[0], b[0], start)) in float, rounded once per run to the destination's type, or an exact sum of integers. Random
// scopes, sizes, types, transpositions and kinds of operand; matrices that end inside a tile, with memory around the
// result that stays. The trial engine takes products of matrices in memory as the operations that they are, and carries
// them out by what these say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "metalloid/emit.h"
#include "metalloid/metalloid.h"

namespace metalloid {
namespace matrix_multiplication_test {

enum class Type { f32, f16, bf16, i8, u8, i32 };

const char* name_of(Type type) {
  switch (type) {
    case Type::f32: return "float";
    case Type::f16: return "half";
    case Type::bf16: return "bfloat";
    case Type::i8: return "char";
    case Type::u8: return "uchar";
    case Type::i32: return "int";
  }
  return "";
}

template <typename T>
T from_bits(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

std::size_t size_of(Type type) {
  return type == Type::f32 || type == Type::i32 ? 4 : type == Type::i8 || type == Type::u8 ? 1 : 2;
}

double load(Type type, const std::byte* address) {
  switch (type) {
    case Type::f32: return from_bits<float>(address);
    case Type::f16: return static_cast<double>(from_bits<_Float16>(address));
    case Type::bf16: {
      const std::uint32_t bits = std::uint32_t{from_bits<std::uint16_t>(address)} << 16;
      return from_bits<float>(reinterpret_cast<const std::byte*>(&bits));
    }
    case Type::i8: return from_bits<std::int8_t>(address);
    case Type::u8: return from_bits<std::uint8_t>(address);
    case Type::i32: return from_bits<std::int32_t>(address);
  }
  return 0;
}

// What is left of a sum when it is stored as the type.
double rounded(Type type, double value) {
  const float single = static_cast<float>(value);
  if (type == Type::i32) return value;
  if (type == Type::f32) return single;
  if (type == Type::f16) return static_cast<double>(static_cast<_Float16>(single));
  std::uint32_t bits;
  std::memcpy(&bits, &single, 4);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  return from_bits<float>(reinterpret_cast<const std::byte*>(&bits));
}

void store(Type type, std::byte* address, double value) {
  auto put = [&](auto stored) { std::memcpy(address, &stored, sizeof(stored)); };
  switch (type) {
    case Type::f32: return put(static_cast<float>(value));
    case Type::f16: return put(static_cast<_Float16>(value));
    case Type::bf16: {
      const float wide = static_cast<float>(rounded(Type::bf16, value));
      std::memcpy(address, reinterpret_cast<const std::byte*>(&wide) + 2, 2);
      return;
    }
    case Type::i8: return put(static_cast<std::int8_t>(value));
    case Type::u8: return put(static_cast<std::uint8_t>(value));
    case Type::i32: return put(static_cast<std::int32_t>(value));
  }
}

struct Case {
  int simdgroups;  // 0: one thread
  int m, n, k;     // of the operation; k 0: dynamic
  bool transpose_left, transpose_right, relaxed, accumulate;
  bool cooperative;  // the destination is in registers
  bool left, right;  // the operand is in registers
  Type a, b, d;
  int rows, columns, depth;  // of the matrices

  std::string text() const {
    return fmt::format(
        "simdgroups {} m {} n {} k {} tl {} tr {} relaxed {} accumulate {} in registers {} {} {} {} x {} -> {}, "
        "matrices {} {} {}",
        simdgroups, m, n, k, transpose_left, transpose_right, relaxed, accumulate, cooperative, left, right, name_of(a),
        name_of(b), name_of(d), rows, columns, depth);
  }
};

std::string kernel_of(const Case& test, std::size_t number) {
  const std::string scope = test.simdgroups == 0   ? "execution_thread"
                            : test.simdgroups == 1 ? "execution_simdgroup"
                                                   : fmt::format("execution_simdgroups<{}>", test.simdgroups);
  const std::string left = test.transpose_left ? "a.slice(row, at)" : "a.slice(at, row)";
  const std::string right = test.transpose_right ? "b.slice(at, column)" : "b.slice(column, at)";
  std::string body = fmt::format(
      "  constexpr auto descriptor = matmul2d_descriptor({}, {}, {}, {}, {}, {}, "
      "matmul2d_descriptor::mode::multiply{});\n"
      "  matmul2d<descriptor, {}> operation;\n  const int row = group.y * {}, column = group.x * {};\n"
      "  auto target = c.slice(column, row);\n",
      test.m, test.n, test.k == 0 ? "dynamic_length_v<int>" : std::to_string(test.k), test.transpose_left,
      test.transpose_right, test.relaxed, test.accumulate ? "_accumulate" : "", scope, test.m, test.n);
  std::string result = "target";
  if (test.cooperative) {
    result = "result";
    body += fmt::format("  auto result = operation.get_destination_cooperative_tensor<{}, {}, {}>();\n",
                        name_of(test.a), name_of(test.b), name_of(test.d));
    if (test.accumulate) body += "  result.load(target);\n";
  }
  body += fmt::format("  for (int at = 0; at < {}; at += {}) {{\n    auto left = {};\n    auto right = {};\n",
                      test.depth, test.k == 0 ? test.depth : test.k, left, right);
  std::string operands[] = {"left", "right"};
  for (int i = 0; i < 2; ++i) {
    if (!(i == 0 ? test.left : test.right)) continue;
    body += fmt::format(
        "    auto held_{0} = operation.get_{0}_input_cooperative_tensor<{1}, {2}, {3}>();\n"
        "    held_{0}.load({0});\n",
        operands[i], name_of(test.a), name_of(test.b), name_of(test.d));
    operands[i] = "held_" + operands[i];
  }
  body += fmt::format("    operation.run({}, {}, {});\n  }}\n", operands[0], operands[1], result);
  if (test.cooperative) body += "  result.store(target);\n";
  return fmt::format(
      "kernel void product{}(Matrix<{}> a, Matrix<{}> b, Matrix<{}> c, uint2 group "
      "[[threadgroup_position_in_grid]]) {{\n{}}}\n",
      number, name_of(test.a), name_of(test.b), name_of(test.d), body);
}

class Numbers {
 public:
  bool chance(int percent) { return below(100) < percent; }
  int below(int bound) { return static_cast<int>(generator_() % static_cast<unsigned>(bound)); }
  double value(Type type) {
    if (type == Type::u8) return below(256);
    if (type == Type::i8) return below(256) - 128;
    if (type == Type::i32) return below(2000000) - 1000000;
    return rounded(type, (below(2000001) - 1000000) / 1e6);
  }

 private:
  std::mt19937 generator_{7};
};

Case random_case(Numbers& numbers) {
  constexpr std::array<int, 8> sizes = {8, 16, 32, 64, 5, 12, 24, 136};
  constexpr std::array<int, 6> depths = {0, 8, 16, 32, 20, 3};
  Case test{};
  test.simdgroups = std::array{0, 1, 1, 1, 2, 3, 4}[numbers.below(7)];
  test.m = sizes[numbers.below(sizes.size())];
  test.n = sizes[numbers.below(sizes.size())];
  test.k = depths[numbers.below(depths.size())];
  test.transpose_left = numbers.chance(30);
  test.transpose_right = numbers.chance(30);
  test.relaxed = numbers.chance(40);
  test.cooperative = numbers.chance(60);
  test.left = test.simdgroups == 1 && test.k != 0 && numbers.chance(50);
  test.right = test.simdgroups == 1 && test.k != 0 && numbers.chance(50);
  if (numbers.chance(30)) {
    test.a = numbers.chance(50) ? Type::i8 : Type::u8;
    test.b = numbers.chance(50) ? Type::i8 : Type::u8;
    test.d = Type::i32;
  } else {
    constexpr std::array<Type, 4> factors = {Type::f32, Type::f16, Type::bf16, Type::i8};
    test.a = factors[numbers.below(4)];
    test.b = factors[numbers.below(4)];
    test.d = factors[numbers.below(3)];
  }
  // Divided by tiles or not.
  const bool even = numbers.chance(30);
  test.rows = even ? 2 * test.m : 1 + numbers.below(2 * test.m);
  test.columns = even ? test.n : 1 + numbers.below(2 * test.n);
  test.depth = test.k == 0 ? std::array{1, 7, 64, 600}[numbers.below(4)]
               : even      ? 2 * test.k
                           : 1 + numbers.below(3 * test.k);
  test.accumulate = test.depth > test.k && test.k != 0 ? true : numbers.chance(50);
  return test;
}

struct Matrix {
  Type type;
  int rows, columns, stride;  // in memory
  Buffer buffer;
  std::byte* at(int row, int column) const {
    return const_cast<Buffer&>(buffer).as<std::byte>().data() + (std::size_t(row) * stride + column) * size_of(type);
  }
};

Matrix random_matrix(Numbers& numbers, Type type, int rows, int columns) {
  const int stride = columns + 3;
  Matrix matrix{type, rows, columns, stride, Buffer(std::size_t(rows + 1) * stride * size_of(type))};
  for (int i = 0; i < rows + 1; ++i) {
    for (int j = 0; j < stride; ++j) store(type, matrix.at(i, j), numbers.value(type));
  }
  return matrix;
}

void bind(Dispatch& dispatch, std::uint32_t index, const Matrix& matrix) {
  const std::array<std::int64_t, 2> extents = {matrix.columns, matrix.rows}, strides = {1, matrix.stride};
  dispatch.tensor(index, matrix.buffer, extents, strides);
}

// An element of the result, or what lies around it, and by how much another order of the terms may change it.
struct Expected {
  double value, tolerance;
};

std::vector<Expected> expected(const Case& test, const Matrix& a, const Matrix& b, const Matrix& c) {
  std::vector<Expected> result;
  for (int i = 0; i < c.rows + 1; ++i) {
    for (int j = 0; j < c.stride; ++j) {
      double sum = load(c.type, c.at(i, j)), tolerance = 0;
      if (i < c.rows && j < c.columns) {
        if (!test.accumulate) sum = 0;
        double terms = std::abs(sum);
        int roundings = 1;
        for (int k = 0; k < test.depth; ++k) {
          const double x = load(a.type, test.transpose_left ? a.at(k, i) : a.at(i, k));
          const double y = load(b.type, test.transpose_right ? b.at(j, k) : b.at(k, j));
          terms += std::abs(x * y);
          sum = c.type == Type::i32 ? sum + x * y
                                    : std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(sum));
          if (test.k == 0 || (k + 1) % test.k != 0) continue;
          sum = rounded(c.type, sum);
          ++roundings;
        }
        sum = rounded(c.type, sum);
        if (test.relaxed && c.type != Type::i32) {
          const double of_rounding = c.type == Type::f32 ? 0 : std::ldexp(roundings, c.type == Type::f16 ? -11 : -8);
          tolerance = terms * ((test.depth + 1) * 0x1p-22 + of_rounding);
        }
      }
      result.push_back({sum, tolerance});
    }
  }
  return result;
}

// Cases of one sequence: so many from the first on.
struct Run {
  const char* device;
  std::size_t first, count;
};

class MatrixMultiplication : public testing::TestWithParam<Run> {};

TEST_P(MatrixMultiplication, IsItsDefinition) {
  const auto [device, first, count] = GetParam();
  Numbers numbers;
  for (std::size_t i = 0; i < first; ++i) random_case(numbers);
  std::vector<Case> cases;
  std::string source =
      "#include <metal_stdlib>\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
      "using namespace metal;\nusing namespace mpp::tensor_ops;\n"
      "template <typename T> using Matrix = tensor<device T, dextents<int, 2>, tensor_handle>;\n";
  for (std::size_t i = 0; i < count; ++i) {
    cases.push_back(random_case(numbers));
    source += kernel_of(cases.back(), i);
  }
  CompileOptions options;
  options.language = {4, 0};
  options.math_mode = MathMode::safe;
  const Library library = Device::named(device).make_library(source, options);
  for (std::size_t i = 0; i < count; ++i) {
    const Case& test = cases[i];
    SCOPED_TRACE(fmt::format("product{}: {}", i, test.text()));
    const Matrix a = random_matrix(numbers, test.a, test.transpose_left ? test.depth : test.rows,
                                   test.transpose_left ? test.rows : test.depth);
    const Matrix b = random_matrix(numbers, test.b, test.transpose_right ? test.columns : test.depth,
                                   test.transpose_right ? test.depth : test.columns);
    const Matrix c = random_matrix(numbers, test.d, test.rows, test.columns);
    const std::vector<Expected> right = expected(test, a, b, c);
    Dispatch dispatch;
    bind(dispatch, 0, a);
    bind(dispatch, 1, b);
    bind(dispatch, 2, c);
    const auto groups_across = static_cast<std::uint32_t>((test.columns + test.n - 1) / test.n);
    const auto groups_down = static_cast<std::uint32_t>((test.rows + test.m - 1) / test.m);
    const std::uint32_t threads = test.simdgroups == 0 ? 1 : 32 * static_cast<std::uint32_t>(test.simdgroups);
    dispatch.threadgroups({groups_across, groups_down}, {threads});
    run(library.kernel(fmt::format("product{}", i)), dispatch);
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < right.size(); ++at) {
      const double got = load(c.type, c.at(static_cast<int>(at) / c.stride, static_cast<int>(at) % c.stride));
      wrong += !(got == right[at].value || std::abs(got - right[at].value) <= right[at].tolerance);  // infinite, too
    }
    EXPECT_EQ(wrong, 0u) << "of " << right.size();
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, MatrixMultiplication,
                         testing::Values(Run{"reference", 0, 12}, Run{"cpu", 0, 16}, Run{"cpu", 16, 16},
                                         Run{"cpu", 32, 16}, Run{"trial_reference", 48, 24}),
                         [](const auto& info) {
                           return fmt::format("{}_from_{}", info.param.device, info.param.first);
                         });

TEST(MatrixMultiplications, AreOneOperationForAnEngineThatTakesThem) {
  CompileOptions options;
  options.language = {4, 0};
  const std::string source =
      "#include <metal_stdlib>\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
      "using namespace metal;\nusing M = tensor<device half, dextents<int, 2>, tensor_handle>;\n"
      "kernel void test(M a, M b, M c) {\n"
      "  mpp::tensor_ops::matmul2d<mpp::tensor_ops::matmul2d_descriptor(8, 8), execution_simdgroup>().run(a, b, c);\n"
      "}\n";
  for (const char* device : {"cpu", "trial", "reference"}) {
    const std::string ir = emit(Device::named(device).make_library(source, options), "test", Emit::ir, {});
    const bool is_one = ir.find("@metalloid.matmul2d.simdgroup.device.device.device(") != std::string::npos;
    EXPECT_EQ(is_one, std::string(device) != "reference") << ir;
  }
}

}  // namespace matrix_multiplication_test
}  // namespace metalloid
