// Types of Metal that kernels here cannot have: the compiler names them and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace {

using ::testing::HasSubstr;

std::string log_of(const std::string& text, const CompileOptions& options = {}) {
  try {
    Device::cpu().make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_error);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

// One kernel with a texture leaves the others of its library usable.
TEST(UnsupportedTypes, KernelsWithTexturesAreRefusedWhenTheyShallRun) {
  const Library library = Device::cpu().make_library(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "constexpr sampler linear(coord::normalized, filter::linear, address::clamp_to_edge);\n"
      "kernel void blur(texture2d<float> image [[texture(0)]], texture2d<half, access::write> out [[texture(1)]],\n"
      "                 uint2 at [[thread_position_in_grid]]) {\n"
      "  float4 sum = image.sample(linear, float2(at) / image.get_width(), level(0)) + image.read(at + 1);\n"
      "  out.write(half4(sum), at);\n"
      "}\n"
      "kernel void shade(sampler s [[sampler(0)]]) {}\n"
      "fragment float4 paint(texture2d<float> image [[texture(0)]]) {\n"
      "  if (image.read(uint2(0)).x < 0.5) discard_fragment();\n"
      "  return dfdx(image.read(uint2(0)));\n"
      "}\n"
      "kernel void fine(device float* x) { x[0] = 1; }\n");
  EXPECT_EQ(library.kernel("fine").info().name, "fine");
  EXPECT_THAT(library.warnings(), HasSubstr(":4:35: warning: textures are not supported by Metalloid"));
  const auto message = [&](const char* name) {
    try {
      library.kernel(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("blur"), HasSubstr(":4: kernel 'blur' has a texture argument, 'image'"));
  EXPECT_THAT(message("shade"), HasSubstr(":9: kernel 'shade' has a sampler argument, 's'"));
  EXPECT_THAT(message("paint"), HasSubstr("a fragment function"));
}

// Objects that name textures lie in argument buffers; who does not use them can run.
TEST(UnsupportedTypes, TexturesInArgumentBuffers) {
  const Library library = Device::cpu().make_library(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "struct Scene { texture2d<float> image [[id(0)]]; sampler s [[id(1)]]; int n [[id(2)]]; };\n"
      "kernel void count(constant Scene& scene, device int* x) { x[0] = scene.n; }\n"
      "kernel void look(constant Scene& scene, device float* x) { x[0] = scene.image.read(uint2(0)).x; }\n");
  const TypeInfo scene = library.kernel("count").info().arguments[0].type;
  EXPECT_EQ(scene.members[2].offset, 16u);
  EXPECT_EQ(scene.members[0].type[0].name, "texture2d");
  EXPECT_TRUE(scene.members[0].type[0].members.empty());
  try {
    library.kernel("look");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("texture2d"));
  }
}

TEST(UnsupportedTypes, FunctionTablesAndRaysAreNamed) {
  EXPECT_THAT(log_of("kernel void f(visible_function_table<float(float)> t [[buffer(0)]], device float* x) {}\n"),
              HasSubstr(":3:15: error: 'visible_function_table<float (float)>' is unavailable: function tables are not "
                        "supported by Metalloid"));
  EXPECT_THAT(log_of("using namespace raytracing;\n"
                     "kernel void f(acceleration_structure<instancing> a [[buffer(0)]], device float* x) {}\n"),
              HasSubstr("ray tracing is not supported by Metalloid"));
}

TEST(UnsupportedTypes, OthersAreNamed) {
  EXPECT_THAT(
      log_of("kernel void f(imageblock<float> b, device float* x) {}\n"),
      HasSubstr(":3:15: error: 'imageblock<float>' is unavailable: imageblocks are not supported by Metalloid"));
  EXPECT_THAT(log_of("struct Commands { command_buffer commands; };\n"),
              HasSubstr("indirect command buffers are not supported by Metalloid"));
  CompileOptions options;
  options.language = {4, 0};
  EXPECT_THAT(log_of("#include <metal_tensor>\n"
                     "struct Layer { int n; tensor<device float, dextents<int, 2>, tensor_handle> weights[2]; };\n"
                     "struct Model { Layer layers[4]; };\n"
                     "kernel void f(constant Model& model, device float* x) {}\n",
                     options),
              HasSubstr(":4:77: error: tensors in argument buffers are not supported by Metalloid: take 'weights' as"));
  EXPECT_THAT(log_of("#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
                     "kernel void f() { mpp::tensor_ops::convolution2d<0, execution_thread> c; }\n",
                     options),
              HasSubstr("convolution2d is not supported by Metalloid"));
}

TEST(UnsupportedTypes, FunctionsForTablesAreOrdinaryOnes) {
  const Library library = Device::cpu().make_library(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "[[visible]] float twice(float x) { return 2 * x; }\n"
      "[[stitchable]] float half_of(float x) { return x / 2; }\n"
      "kernel void fine(device float* x) { x[0] = twice(half_of(x[0])); }\n");
  EXPECT_EQ(library.kernel_names(), std::vector<std::string>{"fine"});
}

}  // namespace
}  // namespace metalloid
