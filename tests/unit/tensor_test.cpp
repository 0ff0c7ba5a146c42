// Tensors: how they are reflected, bound and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace tensor_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view source = R"(
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

kernel void scale(tensor<device float, dextents<int, 2>, tensor_handle> x [[buffer(2)]], constant float& factor,
                  device float* total, uint2 id [[thread_position_in_grid]]) {
  x[id.x, id.y] *= factor;
  total[0] = x.get_stride(1);
}
kernel void typed(tensor<const device half, extents<uint, 4, dynamic_extent>> x, tensor<constant int, dextents<int, 0>> y,
                  tensor<device bfloat, dextents<long, 1>> z) {
  z[0] = bfloat(float(x[0, 0]) + y[]);
}
)";

CompileOptions metal4() {
  CompileOptions options;
  options.language = {4, 0};
  return options;
}

const Library& library() {
  static const Library made = Device::cpu().make_library(source, metal4());
  return made;
}

std::string error_of(const Dispatch& dispatch, const Kernel& kernel) {
  try {
    run(kernel, dispatch);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.what();
  }
  return "no error";
}

class ScaledTensor : public ::testing::Test {
 protected:
  Dispatch dispatch(Buffer buffer, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {},
                    std::size_t offset = 0) {
    Dispatch made;
    made.tensor(2, std::move(buffer), extents, strides, offset).value(0, 10.0f).buffer(1, total_);
    made.threads({2, 3}, {2, 1});
    return made;
  }
  std::string error(Buffer buffer, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {},
                    std::size_t offset = 0) {
    return error_of(dispatch(std::move(buffer), std::move(extents), std::move(strides), offset), kernel_);
  }

  Kernel kernel_ = library().kernel("scale");
  Buffer total_{4};
};

TEST_F(ScaledTensor, IsReflectedWithIndexElementAndExtents) {
  const ArgumentInfo& x = kernel_.info().arguments.at(0);
  EXPECT_EQ(x.kind, ArgumentKind::tensor);
  EXPECT_EQ(x.index, 2u);
  EXPECT_EQ(x.type.scalar, ElementType::float32);
  EXPECT_EQ(x.access, Access::read_write);
  EXPECT_THAT(x.extents, ElementsAre(-1, -1));
  EXPECT_EQ(kernel_.info().arguments.at(1).index, 0u);  // free indices skip the tensor's
  EXPECT_EQ(kernel_.info().arguments.at(2).index, 1u);
}

TEST(Tensors, OfOtherTypesAreReflected) {
  const KernelInfo info = library().kernel("typed").info();
  EXPECT_THAT(info.arguments.at(0).extents, ElementsAre(4, -1));
  EXPECT_EQ(info.arguments.at(0).access, Access::read);
  EXPECT_EQ(info.arguments.at(0).type.scalar, ElementType::float16);
  EXPECT_TRUE(info.arguments.at(1).extents.empty());
  EXPECT_EQ(info.arguments.at(1).address_space, AddressSpace::constant);
  EXPECT_EQ(info.arguments.at(1).access, Access::read);
  EXPECT_EQ(info.arguments.at(2).type.scalar, ElementType::bfloat16);
}

TEST_F(ScaledTensor, HasStridesAndAnOffset) {
  Buffer buffer(4 * 13);
  for (float& value : buffer.as<float>()) value = 1;
  run(kernel_, dispatch(buffer, {2, 3}, {1, 4}, 4));
  std::vector<float> expected(13, 1);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 2; ++column) expected[1 + 4 * row + column] = 10;
  }
  EXPECT_THAT(std::vector<float>(buffer.as<float>().begin(), buffer.as<float>().end()), expected);
  EXPECT_EQ(total_.as<float>()[0], 4);
}

TEST_F(ScaledTensor, HasNoGapsWithoutStrides) {
  Buffer buffer(4 * 6);
  for (float& value : buffer.as<float>()) value = 1;
  run(kernel_, dispatch(buffer, {2, 3}));
  for (float value : buffer.as<float>()) EXPECT_EQ(value, 10);
  EXPECT_EQ(total_.as<float>()[0], 2);
}

TEST_F(ScaledTensor, RefusesWhatDoesNotFit) {
  EXPECT_THAT(error(Buffer(4 * 5), {2, 3}), HasSubstr("does not fit into its buffer's 20 bytes"));
  EXPECT_THAT(error(Buffer(4 * 6), {2, 3}, {}, 4), HasSubstr("does not fit"));
  EXPECT_THAT(error(Buffer(4 * 6), {2, 3}, {}, 100), HasSubstr("does not fit"));
  EXPECT_THAT(error(Buffer(4 * 6), {2, 3}, {1, 3}), HasSubstr("does not fit"));
  EXPECT_THAT(error(Buffer(4 * 6), {INT64_MAX, INT64_MAX}), HasSubstr("does not fit"));
  EXPECT_THAT(error(Buffer(4 * 6), {2, 3}, {1, INT64_MAX}), HasSubstr("does not fit"));
  EXPECT_THAT(error(Buffer(4 * 6), {6}), HasSubstr("is a tensor of rank 2; rank 1 given"));
  EXPECT_THAT(error(Buffer(4 * 6), {-1, 3}), HasSubstr("has extent -1"));
  EXPECT_THAT(error(Buffer(4 * 6), {2, 3}, {1, -2}), HasSubstr("stride -2 in dimension 1"));
  EXPECT_THAT(error(Buffer(4 * 20), {2, 3}, {2, 4}), HasSubstr("the stride of dimension 0 must be 1, not 2"));
  EXPECT_THROW(error(Buffer(4 * 6), {2, 3}, {1}), Error);
}

TEST_F(ScaledTensor, IsNeitherBufferNorBytes) {
  Dispatch made = dispatch(Buffer(24), {2, 3});
  made.buffer(2, Buffer(24));
  EXPECT_THAT(error_of(made, kernel_),
              HasSubstr("argument 'x' at index 2 is a tensor of rank 2 and no tensor is bound"));
  made.value(2, 1.0f);
  EXPECT_THAT(error_of(made, kernel_), HasSubstr("no tensor is bound"));
  const std::array<std::int64_t, 1> one = {1};
  made.tensor(2, Buffer(24), std::array<std::int64_t, 2>{2, 3}).tensor(1, Buffer(4), one);
  EXPECT_THAT(error_of(made, kernel_), HasSubstr("argument 'total' at index 1 is a pointer; a tensor is bound there"));
}

TEST(Tensors, MustBeHandlesInDeviceMemory) {
  const auto log = [](const std::string& argument) {
    try {
      Device::cpu().make_library("#include <metal_tensor>\nusing namespace metal;\nkernel void f(" + argument + ") {}",
                                 metal4());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_error);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(log("tensor<device float, dextents<int, 1>, tensor_inline> x"), HasSubstr("must be a tensor_handle"));
  EXPECT_THAT(log("tensor<threadgroup float, dextents<int, 1>> x"), HasSubstr("address space device or constant"));
  EXPECT_THAT(log("tensor<float, dextents<int, 1>> x"), HasSubstr("address space device or constant"));
}

TEST(Tensors, NeedMetal4) {
  try {
    Device::cpu().make_library("#include <metal_tensor>\n");
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs Metal 4: compile with -std=metal4.0"));
  }
}

TEST(Tensors, OperationsThatAreRefusedSayWhy) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"matmul2d<matmul2d_descriptor(0, 8), execution_thread> operation;", "m and n are from 1 to 65535"},
      {"matmul2d<matmul2d_descriptor(8, 8, 8), execution_thread>().get_left_input_cooperative_tensor<half, half, "
       "half>();",
       "cooperative inputs of matmul2d need the scope execution_simdgroup"},
      {"matmul2d<matmul2d_descriptor(8, 8), execution_simdgroup>().get_right_input_cooperative_tensor<half, half, "
       "half>();",
       "cooperative inputs of matmul2d need a fixed k"},
      // At the user's line.
      {"threadgroup int m[4]; auto t = tensor(m, dextents<int, 2>(2, 2)); t[1] = 1;",
       "program_source:3:86: error: a tensor takes one index per dimension"},
      {"threadgroup int m[4]; auto t = tensor(m, dextents<int, 2>(2, 2)); t.slice(1);",
       "error: a slice takes one origin per dimension"},
  };
  for (const auto& [body, message] : cases) {
    const std::string text =
        "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
        "using namespace metal; using namespace mpp::tensor_ops;\nkernel void f() { " +
        std::string(body) + " }";
    try {
      Device::cpu().make_library(text, metal4());
      ADD_FAILURE() << "compiled: " << body;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(message)));
    }
  }
}

}  // namespace tensor_test
}  // namespace metalloid
