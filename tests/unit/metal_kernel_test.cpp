// metal_kernel from C++: generated source, arrays, launches, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "metalloid/fast.h"

namespace metalloid::fast {
namespace metal_kernel_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array floats(Shape shape, std::vector<float> values) {
  Array array = Array::zeros(std::move(shape), Dtype::float32);
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(array.data()));
  return array;
}

std::vector<float> values_of(const Array& array) {
  const auto* first = reinterpret_cast<const float*>(array.data());
  return {first, first + array.size()};
}

TEST(MetalKernel, RunsElementwise) {
  const MetalKernel kernel =
      metal_kernel("exponential", {"x"}, {"y"}, "uint i = thread_position_in_grid.x; y[i] = metal::exp(T(x[i]));");
  const std::vector<Array> outputs = kernel({floats({2, 2}, {0, 1, 2, 3})}, {{2, 2}}, {Dtype::float32}, {4, 1, 1},
                                            {256, 1, 1}, {{"T", Dtype::float32}});
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_EQ(outputs[0].shape, (Shape{2, 2}));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(values_of(outputs[0])[i], std::exp(i), 1e-5);
}

TEST(MetalKernel, RejectsShapesWhoseProductsOverflow) {
  const auto message_of = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::int32_t half_of_all = 1 << 30;
  for (const Shape& shape : {Shape{half_of_all, half_of_all, 16}, Shape{half_of_all, half_of_all, half_of_all},
                             Shape{half_of_all, half_of_all, half_of_all, 0}}) {
    EXPECT_THAT(message_of([&] { Array::zeros(shape, Dtype::float32); }), HasSubstr("too many elements"));
    EXPECT_THAT(message_of([&] { Array::wrap(nullptr, shape, Dtype::float32); }), HasSubstr("too many elements"));
  }
  float value = 0;
  EXPECT_THAT(message_of([&] { Array::wrap(&value, Shape{2, 2}, Strides{std::int64_t{1} << 62, 1}, Dtype::float32); }),
              HasSubstr("reaches beyond all memory"));
  EXPECT_EQ(Array::zeros({half_of_all, 0}, Dtype::float32).size(), 0);
}

TEST(MetalKernel, ScalarsAreConverted) {
  EXPECT_EQ(values_of(Array::scalar(3, Dtype::float32))[0], 3);
  EXPECT_EQ(values_of(Array::scalar(2.5, Dtype::float32))[0], 2.5);
  EXPECT_EQ(*reinterpret_cast<const std::uint16_t*>(Array::scalar(1.0f, Dtype::float16).data()), 0x3c00);
  EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(Array::scalar((1ll << 62) + 1, Dtype::int64).data()),
            (1ll << 62) + 1);
  EXPECT_EQ(*reinterpret_cast<const bool*>(Array::scalar(2, Dtype::boolean).data()), true);
  const Array complex = Array::scalar(std::array<float, 2>{1, 2}, Dtype::complex64);
  EXPECT_EQ(reinterpret_cast<const float*>(complex.data())[1], 2);
  EXPECT_THROW(Array::scalar(std::array<float, 2>{1, 2}, Dtype::float32), Error);
}

TEST(MetalKernel, ArraysMustLieInTheirBuffers) {
  const MetalKernel kernel = metal_kernel("copy", {"x"}, {"y"}, "y[0] = x[0];");
  auto refused = [&](const Array& input, const Array& output, const std::string& text) {
    try {
      kernel.run({input}, {output}, {.grid = {1, 1, 1}});
      ADD_FAILURE() << "no error; expected: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  };
  const Array good = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Array bad = good;
  bad.strides = {1};
  refused(bad, good, "An array has 2 dimensions and 1 strides.");
  bad = good;
  bad.strides = {4, 1};
  refused(bad, good, "`x` reaches from byte 0 to 28 of a buffer of 24 bytes.");
  bad.strides = {-3, 1};
  refused(bad, good, "`x` reaches from byte -12 to 12 of a buffer of 24 bytes.");
  refused(good, bad, "`y` reaches from byte -12 to 12 of a buffer of 24 bytes.");
  bad = good;
  bad.shape = {3, 2};
  bad.strides = {1, 3};
  refused(good, bad, "Output `y` must be row contiguous.");
  EXPECT_THROW(Array::wrap(nullptr, {2, -1}, Dtype::float32), Error);
  EXPECT_THROW(Array::wrap(nullptr, {2, 2}, {1}, Dtype::float32), Error);
}

TEST(MetalKernel, GeneratesTheSignature) {
  const MetalKernel kernel =
      metal_kernel("sum", {"a", "b", "c"}, {"out", "count"}, "// a_strides b_ndim c_shape", "#define N 1", true, true);
  const GeneratedSource source = kernel.source(
      {Array::zeros({3, 4}, Dtype::bfloat16), Array::zeros({7}, Dtype::uint8), Array::zeros({}, Dtype::boolean)},
      {Dtype::float32, Dtype::uint32}, {{"N", -2}, {"fast", true}});
  EXPECT_EQ(source.kernel_name, "custom_kernel_sum___2_1_bfloat16_t_uint8_tc_bools_float_uint32_t");
  EXPECT_EQ(source.text,
            "#define N 1\n"
            "template <int N, bool fast>\n"
            "[[kernel]] void custom_kernel_sum___2_1_bfloat16_t_uint8_tc_bools_float_uint32_t(\n"
            "  const device bfloat16_t* a [[buffer(0)]],\n"
            "  const constant int64_t* a_strides [[buffer(1)]],\n"
            "  const constant uint8_t* b [[buffer(2)]],\n"
            "  const constant int& b_ndim [[buffer(3)]],\n"
            "  const constant bool& c [[buffer(4)]],\n"
            "  device atomic<float>* out [[buffer(5)]],\n"
            "  device atomic<uint32_t>* count [[buffer(6)]]) {\n"
            "// a_strides b_ndim c_shape\n"
            "}\n"
            "\n"
            "template [[host_name(\"custom_kernel_sum___2_1_bfloat16_t_uint8_tc_bools_float_uint32_t\")]] [[kernel]] "
            "decltype(custom_kernel_sum___2_1_bfloat16_t_uint8_tc_bools_float_uint32_t<-2, 1>) "
            "custom_kernel_sum___2_1_bfloat16_t_uint8_tc_bools_float_uint32_t<-2, 1>;\n");
}

TEST(MetalKernel, CopiesViewsOrPassesTheirStrides) {
  Array view = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  view.shape = {3, 2};  // transposed
  view.strides = {1, 3};
  EXPECT_FALSE(view.row_contiguous());
  EXPECT_THAT(values_of(copy(view)), ElementsAre(0, 3, 1, 4, 2, 5));

  const std::string body = "uint i = thread_position_in_grid.x; y[i] = x[i];";
  const std::string strided =
      "uint i = thread_position_in_grid.x; y[i] = x[elem_to_loc(i, x_shape, x_strides, x_ndim)];";
  for (const MetalKernel& kernel :
       {metal_kernel("copy", {"x"}, {"y"}, body), metal_kernel("strided", {"x"}, {"y"}, strided, "", false)}) {
    const auto outputs = kernel({view}, {{3, 2}}, {Dtype::float32}, {6, 1, 1}, {6, 1, 1});
    EXPECT_THAT(values_of(outputs[0]), ElementsAre(0, 3, 1, 4, 2, 5));
  }
}

TEST(MetalKernel, AtomicsAddToTheInitialValue) {
  const MetalKernel kernel = metal_kernel(
      "total", {"x"}, {"y"}, "atomic_fetch_add_explicit(&y[0], x[thread_position_in_grid.x], memory_order_relaxed);",
      "", true, true);
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 0.0f);
  const auto outputs = kernel({floats({1000}, values)}, {{1}}, {Dtype::float32}, {1000, 1, 1}, {64, 1, 1}, {}, 0.5f);
  EXPECT_THAT(values_of(outputs[0]), ElementsAre(499500.5f));
}

// Against the compiler's own conversion, over all of half's values and the points between them.
TEST(MetalKernel, FillRoundsToNearestEven) {
  const Array one = Array::zeros({1}, Dtype::float16);
  for (int bits = 0; bits < 0x7c00; bits += 7) {
    const auto low = static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
    const auto high = bits + 1 == 0x7c00
                          ? 65536.0
                          : static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits + 1)));
    for (double share : {0.0, 0.25, 0.5, 0.75}) {
      const double value = low + share * (high - low);
      fill(one, -value);
      const bool is_up = share > 0.5 || (share == 0.5 && bits % 2 == 1);
      EXPECT_EQ(*reinterpret_cast<std::uint16_t*>(one.data()), 0x8000 | (bits + (is_up ? 1 : 0))) << value;
    }
  }
  fill(one, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(static_cast<float>(*reinterpret_cast<_Float16*>(one.data()))));
}

TEST(MetalKernel, WrapsMemoryWithStrides) {
  std::vector<float> memory(6);
  std::iota(memory.begin(), memory.end(), 0.0f);
  // The columns of a 2 x 3 matrix, from the last to the first.
  const Array backwards = Array::wrap(&memory[2], {3, 2}, {-1, 3}, Dtype::float32);
  EXPECT_EQ(backwards.buffer.contents(), memory.data());
  EXPECT_EQ(backwards.buffer.size(), sizeof(float) * 6);
  EXPECT_EQ(backwards.offset, sizeof(float) * 2);
  EXPECT_FALSE(backwards.row_contiguous());
  EXPECT_THAT(values_of(copy(backwards)), ElementsAre(2, 5, 1, 4, 0, 3));
  EXPECT_EQ(Array::wrap(memory.data(), {0, 2}, {2, 1}, Dtype::float32).buffer.size(), 0);
}

TEST(MetalKernel, ChecksALaunchWithoutMemory) {
  const MetalKernel kernel = metal_kernel("k", {"x"}, {"y"}, "y[thread_position_in_grid.x] = x[0];");
  const Array nowhere = Array::wrap(nullptr, {9}, Dtype::float32);
  EXPECT_NO_THROW(kernel.check({nowhere}, {nowhere}, {{9, 1, 1}, {3, 1, 1}, {}, {}}));
  EXPECT_THROW(kernel.check({nowhere}, {nowhere}, {{9, 1, 1}, {1025, 1, 1}, {}, {}}), Error);
  EXPECT_THROW(kernel.check({nowhere}, {nowhere}, {{0, 1, 1}, {1, 1, 1}, {}, {}}), Error);
  EXPECT_THROW(metal_kernel("k", {"x"}, {"y"}, "z[0] = 1;").check({nowhere}, {nowhere}, {}), Error);
}

template <typename Action>
std::string message(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.what();
  }
  return "no error";
}

TEST(MetalKernel, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(message([] { metal_kernel("k", {}, {}, ""); }),
            "invalid_argument: [metal_kernel] Must specify at least one output.");
  const MetalKernel kernel = metal_kernel("k", {"x"}, {"y"}, "y[0] = z;");
  const Array x = Array::zeros({}, Dtype::float32);
  auto call = [&](std::vector<Array> inputs, std::array<int, 3> group = {1, 1, 1}) {
    return message([&] { kernel(inputs, {{1}}, {Dtype::float32}, {1, 1, 1}, group); });
  };
  EXPECT_EQ(call({}), "invalid_argument: [metal_kernel] Expected `inputs` to have size 1 but got size 0.\n");
  EXPECT_THAT(call({x}), HasSubstr("compile_error: [metal::Device] Unable to build metal library from source\n"));
  EXPECT_THAT(call({x}), HasSubstr("program_source:4:8: error: use of undeclared identifier 'z'"));
  EXPECT_THAT(call({Array::zeros({}, Dtype::float64)}), HasSubstr("float64 is not supported on the GPU"));
}

TEST(MetalKernel, WritesOutsideAnOutputAreErrors) {
  const MetalKernel kernel =
      metal_kernel("outside", {"x"}, {"y"}, "int i = int(thread_position_in_grid.x) - int(x); y[i] = float(i);");
  auto run = [&](int first) {
    const std::vector<Array> y =
        kernel({Array::scalar(first, Dtype::int32)}, {{3}}, {Dtype::float32}, {3, 1, 1}, {3, 1, 1});
    return values_of(y[0]);
  };
  EXPECT_THAT(run(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(
      message([&] { run(1); }),
      AllOf(HasSubstr("out_of_bounds: kernel 'custom_kernel_outside_int32_ts_float' writes outside of argument 'y'"),
            HasSubstr("element -1 of 3 (bytes -4 to -1 of 12)"), HasSubstr("thread (0, 0, 0)")));
}

}  // namespace metal_kernel_test
}  // namespace metalloid::fast
