// Types of Metal that kernels here cannot have: the compiler names them and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace unsupported_types_test {

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

// One library of all that Metalloid lacks, and of kernels that stand beside it.
const char* const lacking = R"(#include <metal_stdlib>
using namespace metal;
using namespace metal::raytracing;

struct Commands { uint count; command_buffer commands [[id(1)]]; compute_pipeline_state state; };
kernel void draw(device Commands* c [[buffer(0)]], device uint* x [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  render_command command(c->commands, i);
  if (x[i] > 0) {
    command.set_vertex_buffer(x, 0);
    command.draw_primitives(primitive_type::triangle, 0, x[i], 1, i);
  } else {
    command.reset();
  }
}
static void compute(device Commands& c, device uint* x) {
  compute_command command(c.commands, 0);
  command.set_compute_pipeline_state(c.state);
  command.set_kernel_buffer(x, 0);
  command.concurrent_dispatch_threadgroups(uint3(1), uint3(32, 1, 1));
}
kernel void dispatch(device Commands& c [[buffer(0)]], device uint* x [[buffer(1)]]) { compute(c, x); }
kernel void size(device Commands& c [[buffer(0)]], device uint* x [[buffer(1)]]) { x[0] = c.commands.size(); }
kernel void count(device Commands& c [[buffer(0)]], device uint* x [[buffer(1)]]) { x[0] = c.count; }

kernel void call(visible_function_table<float(float)> table [[buffer(0)]], device float* x [[buffer(1)]]) {
  x[0] = table[0](x[0]);
}
kernel void trace(instance_acceleration_structure scene [[buffer(0)]], device float* x [[buffer(1)]],
                  intersection_function_table<triangle_data, instancing> functions [[buffer(2)]]) {
  intersector<triangle_data, instancing> i;
  i.assume_geometry_type(geometry_type::triangle);
  i.force_opacity(forced_opacity::opaque);
  ray r(float3(0), float3(0, 0, 1));
  r.max_distance = 10;
  intersector<triangle_data, instancing>::result_type hit = i.intersect(r, scene, 1, functions);
  if (hit.type == intersection_type::triangle) x[0] = hit.distance + hit.triangle_barycentric_coord.x;
}
struct Scene { instance_acceleration_structure structure; float scale; };
static bool is_lit(acceleration_structure<instancing> scene, float3 from) {
  intersection_query<triangle_data, instancing> query(ray(from), scene, intersection_params());
  while (query.next()) query.commit_triangle_intersection();
  return query.get_committed_intersection_type() == intersection_type::none;
}
kernel void shadow(constant Scene& scene [[buffer(0)]], device float* x [[buffer(1)]]) {
  x[0] = is_lit(scene.structure, float3(0));
}
kernel void scale(constant Scene& scene [[buffer(0)]], device float* x [[buffer(1)]]) { x[0] = scene.scale; }
kernel void rays(device float* x [[buffer(0)]]) {
  const ray r(float3(1, 2, 3), float3(4), 5);
  x[0] = r.origin.y + r.direction.x + r.min_distance;
}
struct Hit { bool accept [[accept_intersection]]; float distance [[distance]]; };
[[intersection(bounding_box, triangle_data, instancing)]] Hit sphere(float3 origin [[origin]],
                                                                     ray_data float& payload [[payload]]) {
  payload = origin.x;
  return {true, 1};
}

kernel void sparse(texture2d<float> image [[texture(0)]], sampler s [[sampler(0)]], device float* x [[buffer(0)]]) {
  const sparse_color<float4> color = image.sparse_sample(s, float2(0), level(0));
  if (color.resident()) x[0] = color.value().x;
}
struct Images { depth2d<float> depth; float scale; };
kernel void sparse_depth(constant Images& images [[buffer(0)]], device float* x [[buffer(1)]]) {
  const auto value = images.depth.sparse_read(uint2(0));
  x[0] = value.resident() ? value.value() : images.scale;
}

struct Pixel { rgba8unorm<half4> color [[color(0)]]; float depth; };
kernel void tile(imageblock<Pixel, imageblock_layout_explicit> block, ushort2 at [[thread_position_in_threadgroup]]) {
  threadgroup_imageblock Pixel* pixel = block.data(at);
  pixel->depth = 1;
}
struct Vertex { float4 position [[position]]; };
struct Payload { uint meshlets[4]; };
[[mesh]] void surface(mesh<Vertex, Vertex, 64, 126, topology::triangle> out,
                      const object_data Payload& payload [[payload]], uint i [[thread_index_in_threadgroup]]) {
  out.set_vertex(i, Vertex{float4(payload.meshlets[0])});
  out.set_primitive_count(1);
}
[[object]] void objects(mesh_grid_properties grid, object_data Payload& payload [[payload]]) {
  grid.set_threadgroups_per_grid(uint3(1));
}
struct Fragment { float4 position [[position]]; interpolant<float2, interpolation::perspective> at; };
fragment float4 paint(Fragment in [[stage_in]]) { return float4(in.at.interpolate_at_centroid(), 0, 1); }

// Names that are spaces elsewhere.
kernel void fine(device float* x [[buffer(0)]]) {
  struct ray_data { float value; };
  ray_data r = ray_data{x[0]};
  float object_data = 2;
  x[0] = r.value * object_data;
}
)";

TEST(UnsupportedTypes, OnlyKernelsThatUseThemAreRefused) {
  const Library library = Device::cpu().make_library(lacking);
  for (const char* name : {"count", "scale", "rays", "fine"}) EXPECT_NO_THROW(library.kernel(name)) << name;
  const std::pair<const char*, const char*> refused[] = {
      {"draw",
       ":7: kernel 'draw' calls 'metal::render_command::render_command(metal::command_buffer, unsigned int)': "
       "indirect command buffers are not supported by Metalloid"},
      {"dispatch", ":16: kernel 'dispatch' calls 'metal::compute_command::"},
      {"size", "calls 'metal::command_buffer::size() const': indirect command buffers are not supported"},
      {"call", ":25: argument 'table': function tables are not supported by Metalloid"},
      {"trace", ":28: argument 'scene': ray tracing is not supported by Metalloid"},
      {"shadow", "calls 'metal::raytracing::intersection_query<"},
      {"shadow", ": ray tracing is not supported by Metalloid"},
      {"sphere", "an intersection function"},
      {"sparse", "kernel 'sparse' has a texture argument, 'image': textures are not supported by Metalloid"},
      {"sparse_depth", "sparse_read<"},
      {"sparse_depth", ": textures are not supported by Metalloid"},
      {"tile", "argument 'block': imageblocks are not supported by Metalloid"},
      {"surface", "a mesh function"},
      {"objects", "an object function"},
      {"paint", "a fragment function"},
  };
  for (const auto& [name, message] : refused) {
    try {
      library.kernel(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(name));
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

TEST(UnsupportedTypes, RaysArePlainData) {
  const Library library = Device::cpu().make_library(lacking);
  Buffer x(4);
  run(library.kernel("rays"), Dispatch().buffer(0, x).threads({1}, {1}));
  EXPECT_EQ(x.as<float>()[0], 11);
}

TEST(UnsupportedTypes, TensorsInArgumentBuffers) {
  CompileOptions options;
  options.language = {4, 0};
  const Library library = Device::cpu().make_library(
      "#include <metal_tensor>\nusing namespace metal;\n"
      "struct Layer { int n; tensor<device float, dextents<int, 2>, tensor_handle> weights[2]; };\n"
      "struct Model { Layer layers[4]; };\n"
      "kernel void f(constant Model& model, device float* x) {}\n"
      "kernel void fine(device float* x) { x[0] = 1; }\n",
      options);
  EXPECT_EQ(library.kernel_names(), std::vector<std::string>{"fine"});
  try {
    library.kernel("f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(":5: argument 'model': tensors in argument buffers are not supported by "
                                        "Metalloid: take 'weights' as an argument of the kernel"));
  }
}

TEST(UnsupportedTypes, ConvolutionsAreRefusedWhereTheyRun) {
  CompileOptions options;
  options.language = {4, 0};
  const Library library = Device::cpu().make_library(
      "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
      "using namespace metal; using namespace mpp::tensor_ops;\n"
      "constant constexpr auto shape = convolution2d_descriptor(int4(4, 2, 2, 1), int4(4, 3, 3, 1), int2(2, 2));\n"
      "kernel void convolve(tensor<device half, dextents<int, 4>> image, tensor<device half, dextents<int, 4>> "
      "weights,\n"
      "                     tensor<device half, dextents<int, 4>> result) {\n"
      "  convolution2d<shape, execution_simdgroups<4>> operation;\n"
      "  auto sums = operation.get_destination_cooperative_tensor<decltype(image), decltype(weights), half>();\n"
      "  operation.run(image, weights, sums);\n"
      "  sums.store(result);\n"
      "}\n"
      "kernel void convolve_to_memory(tensor<device half, dextents<int, 4>> image,\n"
      "                               tensor<device half, dextents<int, 4>> weights,\n"
      "                               tensor<device half, dextents<int, 4>> result) {\n"
      "  convolution2d<shape, execution_simdgroups<4>> operation;\n"
      "  operation.run(image, weights, result);\n"
      "}\n"
      "kernel void other(device int* out) { out[0] = 42; }\n",
      options);
  for (const char* name : {"convolve", "convolve_to_memory"}) {
    try {
      library.kernel(name);
      ADD_FAILURE() << name << " is ready";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("convolution2d is not supported by Metalloid"));
    }
  }
  library.kernel("other");
}

TEST(UnsupportedTypes, FunctionsForTablesAreOrdinaryOnes) {
  const Library library = Device::cpu().make_library(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "[[visible]] float twice(float x) { return 2 * x; }\n"
      "[[stitchable]] float half_of(float x) { return x / 2; }\n"
      "kernel void fine(device float* x) { x[0] = twice(half_of(x[0])); }\n");
  EXPECT_EQ(library.kernel_names(), std::vector<std::string>{"fine"});
}

}  // namespace unsupported_types_test
}  // namespace metalloid
