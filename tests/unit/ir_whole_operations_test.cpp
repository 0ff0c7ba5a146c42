// Operations on matrices in memory and on tiles, as an engine gets them that asks: which one, and all that its operands
// say. tests/ir/take_operations.ll has the pass, and the trial engine carries products out
// (matrix_multiplication_test.cpp).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/assemble.h"
#include "ir/specialise.h"
#include "ir/tiles.h"
#include "runtime/compile/compile_jobs.h"

namespace metalloid {
namespace ir_whole_operations_test {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* header = R"(
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
template <typename T> using Matrix = tensor<T, dextents<int, 2>, tensor_handle>;
constant constexpr auto adds = matmul2d_descriptor::mode::multiply_accumulate;
)";

std::string specialised(const std::string& kernel, const ir::OperationPolicy& policy, MathMode mode = MathMode::fast) {
  CompileOptions options;
  options.language = {4, 0};
  options.math_mode = mode;
  const auto compiled = runtime::compile_library(header + kernel, options, {}).library;
  return ir::print_specialised(compiled.bitcode, compiled.info, compiled.info.kernels.at(0), {}, {.whole = policy});
}

bool all(const ir::Operation&, const llvm::CallBase&) { return true; }

// Values without their types; "%" of those that the kernel computes.
std::vector<std::string> operands_of(std::string_view list) {
  std::vector<std::string> operands;
  const std::regex operand("([^, ]+( addrspace\\([0-9]\\))?|<[^>]*>) (zeroext )?([^ ,]+)(, |$)");
  const std::string text(list);
  for (auto found = std::sregex_iterator(text.begin(), text.end(), operand); found != std::sregex_iterator(); ++found) {
    const std::string value = (*found)[4];
    operands.push_back(value[0] == '%' ? "%" : value);
  }
  return operands;
}

// The calls of operations whose name begins so, as "name(operands)".
std::vector<std::string> calls_of(const std::string& ir, const std::string& begin) {
  std::vector<std::string> calls;
  const std::regex call("call [^@\n]*@metalloid\\.(" + begin + "[^(]*)\\((.*?)\\)( #|,|\n)");
  for (auto found = std::sregex_iterator(ir.begin(), ir.end(), call); found != std::sregex_iterator(); ++found) {
    calls.push_back(fmt::format("{}({})", (*found)[1].str(), fmt::join(operands_of((*found)[2].str()), " ")));
  }
  return calls;
}

std::string only_call(const std::string& ir, const std::string& begin) {
  const std::vector<std::string> calls = calls_of(ir, begin);
  EXPECT_EQ(calls.size(), 1u) << ir;
  return calls.empty() ? std::string() : calls[0];
}

// A product of a and b into c.
std::string product(const std::string& left, const std::string& right, const std::string& result,
                    const std::string& descriptor, const std::string& scope) {
  return fmt::format(
      "kernel void test(Matrix<{}> a, Matrix<{}> b, Matrix<{}> c) {{\n"
      "  matmul2d<matmul2d_descriptor({}), {}>().run(a, b, c);\n}}\n",
      left, right, result, descriptor, scope);
}

TEST(WholeOperations, AreOrdinaryCodeForWhoDoesNotAsk) {
  const std::string ir =
      specialised(product("device half", "device half", "device float", "16, 16, 16", "execution_simdgroup"), {});
  EXPECT_THAT(ir, Not(HasSubstr("metalloid.matmul2d")));
  EXPECT_THAT(ir, HasSubstr("metalloid.simdgroup_matrix.multiply_accumulate_relaxed.f16.f16"));
}

// Each tile is address, columns, rows, across, down, first, element. Behind them: m, n, k, the transpositions, whether
// it accumulates, precision, simdgroups.
TEST(WholeOperations, ProductsSayTheirSizesTypesAndFlags) {
  const std::string dynamic = "% % % 1 % 0";  // a tensor that the host binds
  const auto expect = [&](const std::string& left, const std::string& right, const std::string& result,
                          const std::string& descriptor, const std::string& scope, const std::string& name,
                          std::array<int, 3> elements, const std::string& rest) {
    const std::string ir = specialised(product(left, right, result, descriptor, scope), all, MathMode::safe);
    EXPECT_EQ(only_call(ir, "matmul2d"), fmt::format("matmul2d.{}({} {} {} {} {} {} {})", name, dynamic, elements[0],
                                                     dynamic, elements[1], dynamic, elements[2], rest));
    EXPECT_THAT(ir, Not(HasSubstr("metalloid.simdgroup_matrix")));
  };
  expect("device half", "device half", "device float", "32, 16", "execution_simdgroup",
         "simdgroup.device.device.device", {0, 0, 2}, "32 16 % false false false 0 1");
  expect("device bfloat", "const device bfloat", "device bfloat", "64, 32, 16, true", "execution_simdgroups<4>",
         "simdgroups.device.device.device", {1, 1, 1}, "64 32 16 true false false 0 4");
  expect("device float", "device float", "device float", "8, 8, 8, false, true, true", "execution_simdgroup",
         "simdgroup.device.device.device", {2, 2, 2}, "8 8 8 false true false 1 1");
  expect("device char", "device uchar", "device int", "4, 8, 12, true, true, false, adds", "execution_thread",
         "thread.device.device.device", {3, 4, 7}, "4 8 12 true true true 0 0");
  expect("device int", "device short", "device int", "4, 4", "execution_simdgroups<2>",
         "simdgroups.device.device.device", {7, 5, 7}, "4 4 % false false false 0 2");
}

TEST(WholeOperations, ProductsTakeTensorsOfAnyMemoryAndWhatThreadsHold) {
  const std::string ir = specialised(R"(
kernel void test(Matrix<device half> a, constant half* b, device uchar* w, threadgroup float* c) {
  matmul2d<matmul2d_descriptor(24, 16, 16, false, false, true, adds), execution_simdgroup> operation;
  tensor<constant half, extents<int, 16, 40>, tensor_inline> right(b, extents<int, 16, 40>());
  auto sums = operation.get_destination_cooperative_tensor<decltype(a), decltype(right), float>();
  operation.run(a.slice<16, 24>(8, 3), right, sums);
  auto left = operation.get_left_input_cooperative_tensor<half, half, float>();
  left.load(a);
  tensor<device int4b_format, dextents<int, 2>, tensor_inline> weights(w, dextents<int, 2>(16, 16));
  operation.run(left, weights.slice(3, 0), sums);
  sums.store(tensor<threadgroup float, dextents<int, 2>, tensor_inline>(c, dextents<int, 2>(16, 24), array<int, 2>{1, 20}));
})",
                                     all);
  const std::vector<std::string> products = calls_of(ir, "matmul2d");
  ASSERT_EQ(products.size(), 2u) << ir;
  EXPECT_EQ(products[0],
            "matmul2d.simdgroup.device.constant.held(% % % 1 % 0 0 % 16 40 1 16 0 0 % 16 24 16 1 0 2 24 16 16 false "
            "false true 1 1)");
  // Half a byte behind the address.
  EXPECT_EQ(products[1],
            "matmul2d.simdgroup.held.device.held(% 16 24 16 1 0 0 % 13 16 1 16 1 11 % 16 24 16 1 0 2 24 16 16 false "
            "false true 1 1)");
  EXPECT_EQ(only_call(ir, "cooperative_tensor.load"),
            "cooperative_tensor.load.simdgroup.held.device(% 16 24 16 1 0 0 % % % 1 % 0 0)");
  EXPECT_EQ(only_call(ir, "cooperative_tensor.store"),
            "cooperative_tensor.store.simdgroup.held.threadgroup(% 16 24 16 1 0 2 % 16 24 1 20 0 2)");
}

TEST(WholeOperations, ReductionsSayWhatIsReducedAndHow) {
  const std::string kernel = R"(
template <typename Scope>
void reduce(Matrix<device float> a, device half* x) {
  matmul2d<matmul2d_descriptor(16, 24, 8), Scope> operation;
  auto matrix = operation.template get_destination_cooperative_tensor<decltype(a), decltype(a), float>();
  auto rows = operation.template get_row_reduction_destination_cooperative_tensor<decltype(a), decltype(a), half>();
  auto columns = operation.template get_column_reduction_destination_cooperative_tensor<decltype(a), decltype(a), float>();
  matrix.load(a);
  reduce_rows(matrix, rows, reduction_operation::max, half(3.0h));
  reduce_columns(matrix, columns);
  x[0] = rows[0] + half(columns[0]);
}
kernel void test(Matrix<device float> a, device half* x) { reduce<SCOPE>(a, x); }
)";
  const auto reductions = [&](const std::string& scope) {
    return calls_of(specialised("#define SCOPE " + scope + "\n" + kernel, all), "cooperative_tensor.reduce");
  };
  EXPECT_THAT(reductions("execution_simdgroup"),
              ::testing::ElementsAre("cooperative_tensor.reduce.simdgroup.held(% 24 16 8 1 0 2 % 0 true 1)",
                                     "cooperative_tensor.reduce.simdgroup.held(% 24 16 8 1 0 2 % 2 false 0)"));
  EXPECT_THAT(reductions("execution_thread"),
              ::testing::ElementsAre("cooperative_tensor.reduce.thread.held(% 24 16 0 0 0 2 % 0 true 1)",
                                     "cooperative_tensor.reduce.thread.held(% 24 16 0 0 0 2 % 2 false 0)"));
}

TEST(WholeOperations, MatricesInMemorySayPlaceStrideOriginAndTransposition) {
  const std::string ir = specialised(R"(
kernel void test(device const float* a, constant bfloat* b, device float* c, threadgroup half* t) {
  simdgroup_float8x8 m;
  simdgroup_bfloat8x8 n;
  simdgroup_load(m, a, 12, ulong2(1, 2));
  simdgroup_load(n, b, 40, 0, true);
  simdgroup_multiply_accumulate(m, m, n, m);
  simdgroup_store(m, c + 3);
  simdgroup_half8x8 h(1.0h);
  simdgroup_store(h, t, 20, ulong2(5, 1), true);
})",
                                     all);
  EXPECT_THAT(calls_of(ir, "simdgroup_matrix"),
              ::testing::ElementsAre("simdgroup_matrix.load.f32.device(% 12 1 2 false)",
                                     "simdgroup_matrix.load.bf16.constant(% 40 0 0 true)",
                                     "simdgroup_matrix.multiply_accumulate_relaxed.f32.bf16(% % %)",
                                     "simdgroup_matrix.store.f32.device(% % 8 0 0 false)",
                                     "simdgroup_matrix.store.f16.threadgroup(% % 20 5 1 true)"));
  EXPECT_THAT(ir, Not(HasSubstr(" load ")));
}

TEST(WholeOperations, ArePickedOneByOne) {
  const auto exact_products = [](const ir::Operation& operation, const llvm::CallBase& call) {
    return operation.whole == "matmul2d.simdgroup" && ir::read_matmul2d(call).precision == ir::Precision::exact;
  };
  const std::string ir = specialised(R"(
kernel void test(Matrix<device half> a, Matrix<device half> b, Matrix<device float> c) {
  matmul2d<matmul2d_descriptor(8, 8, 8), execution_simdgroup>().run(a, b, c);
  matmul2d<matmul2d_descriptor(8, 8, 8, false, false, true), execution_simdgroup>().run(a, b, c);
})",
                                     exact_products, MathMode::safe);
  EXPECT_EQ(calls_of(ir, "matmul2d").size(), 1u);
  EXPECT_THAT(ir, HasSubstr("multiply_accumulate_relaxed.f16.f16"));
  EXPECT_THAT(ir, Not(HasSubstr("multiply_accumulate.f16.f16")));
}

TEST(WholeOperations, ProductsAreExactInSafeModeOnly) {
  const std::string kernel = R"(
kernel void test(device float* x) {
  simdgroup_float8x8 m(x[0]);
  simdgroup_multiply(m, m, m);
  simdgroup_store(m, x);
})";
  EXPECT_EQ(calls_of(specialised(kernel, {}, MathMode::safe), "simdgroup_matrix.multiply").at(0),
            "simdgroup_matrix.multiply_accumulate.f32.f32(% % zeroinitializer)");
  for (const MathMode mode : {MathMode::relaxed, MathMode::fast}) {
    EXPECT_EQ(calls_of(specialised(kernel, {}, mode), "simdgroup_matrix.multiply").at(0),
              "simdgroup_matrix.multiply_accumulate_relaxed.f32.f32(% % zeroinitializer)");
  }
}

}  // namespace ir_whole_operations_test
}  // namespace metalloid
