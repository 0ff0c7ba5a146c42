// What graphics functions (vertex, fragment, mesh, tile) use, as far as a source needs it to be parsed: sources often
// hold such functions beside their kernels. Nothing here has a definition.
#ifndef METALLOID_GRAPHICS_H
#define METALLOID_GRAPHICS_H

#include <metalloid/types.h>
#include <metalloid/vec.h>

namespace metal {

void discard_fragment();
bool simd_is_helper_thread();
uint get_num_samples();
float2 get_sample_position(uint index);
template <typename T>
T dfdx(T value);
template <typename T>
T dfdy(T value);
template <typename T>
T fwidth(T value);

// Values between vertices, which the fragment function asks for.
namespace interpolation {
struct perspective;
struct no_perspective;
}  // namespace interpolation
template <typename T, typename Interpolation>
struct METALLOID_UNSUPPORTED("graphics functions are") interpolant {
  T interpolate_at_center() const;
  T interpolate_at_centroid() const;
  T interpolate_at_sample(uint sample) const;
  T interpolate_at_offset(float2 offset) const;
};

template <typename T>
struct METALLOID_UNSUPPORTED("graphics functions are") patch_control_point {
  uint size() const;
  const T& operator[](uint index) const;
};

// Meshes and the grids of object functions.
enum class topology { point, line, triangle };
template <typename Vertex, typename Primitive, int vertices, int primitives, topology kind>
struct METALLOID_UNSUPPORTED("mesh functions are") mesh {
  static constexpr uint max_vertices = vertices;
  static constexpr uint max_primitives = primitives;
  void set_vertex(uint index, Vertex value);
  void set_primitive(uint index, Primitive value);
  void set_index(uint index, uchar vertex);
  template <typename V>
  void set_indices(uint index, V indices);
  void set_primitive_count(uint count);
};
struct METALLOID_UNSUPPORTED("mesh functions are") mesh_grid_properties {
  void set_threadgroups_per_grid(uint3 threadgroups);
};

// Memory of tiles.
struct imageblock_layout_implicit;
struct imageblock_layout_explicit;
enum class imageblock_data_rate { color, sample };
template <typename T, typename... Layout>
struct METALLOID_UNSUPPORTED("imageblocks are") imageblock_slice {};
template <typename T, typename... Layout>
struct METALLOID_UNSUPPORTED("imageblocks are") imageblock {
  ushort get_width() const;
  ushort get_height() const;
  ushort get_num_samples() const;
  template <typename... A>
  ushort get_num_colors(A...) const;
  template <typename... A>
  ushort get_color_coverage_mask(A...) const;
  template <typename... A>
  T read(A...) const;
  template <typename... A>
  void write(T value, A...) const;
  template <typename... A>
  T* data(A...) const;
  template <typename Member, typename... A>
  imageblock_slice<Member> slice(const Member& member, A...) const;
};

// How members of imageblocks are kept.
#define METALLOID_PIXEL_FORMAT(name) \
  template <typename T>              \
  using name = T;
METALLOID_PIXEL_FORMAT(r8unorm)
METALLOID_PIXEL_FORMAT(r8snorm)
METALLOID_PIXEL_FORMAT(r16unorm)
METALLOID_PIXEL_FORMAT(r16snorm)
METALLOID_PIXEL_FORMAT(rg8unorm)
METALLOID_PIXEL_FORMAT(rg8snorm)
METALLOID_PIXEL_FORMAT(rg16unorm)
METALLOID_PIXEL_FORMAT(rg16snorm)
METALLOID_PIXEL_FORMAT(rgba8unorm)
METALLOID_PIXEL_FORMAT(srgba8unorm)
METALLOID_PIXEL_FORMAT(rgba8snorm)
METALLOID_PIXEL_FORMAT(rgba16unorm)
METALLOID_PIXEL_FORMAT(rgba16snorm)
METALLOID_PIXEL_FORMAT(rgb10a2)
METALLOID_PIXEL_FORMAT(rg11b10f)
METALLOID_PIXEL_FORMAT(rgb9e5)
#undef METALLOID_PIXEL_FORMAT

}  // namespace metal

#endif
