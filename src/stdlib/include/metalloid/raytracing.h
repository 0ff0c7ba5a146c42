// Function tables and ray tracing as far as a source needs them to be parsed.
#ifndef METALLOID_RAYTRACING_H
#define METALLOID_RAYTRACING_H

#include <metalloid/constants.h>
#include <metalloid/matrix.h>
#include <metalloid/types.h>
#include <metalloid/vec.h>

namespace metal {

template <typename Signature>
struct METALLOID_UNSUPPORTED("function tables are") visible_function_table {
  uint size() const;
  bool empty() const;
  Signature* operator[](uint index) const;

 private:
  ulong object_;
};
template <typename Signature>
bool is_null_visible_function_table(visible_function_table<Signature>);

enum class winding { clockwise, counterclockwise };

namespace raytracing {

struct triangle_data;
struct curve_data;
struct instancing;
struct world_space_data;
struct primitive_motion;
struct instance_motion;
struct extended_limits;
struct intersection_function_buffer;
struct user_data;
template <int levels>
struct max_levels;

enum class intersection_type { none, triangle, bounding_box, curve };
enum class geometry_type { none = 0, triangle = 1, bounding_box = 2, curve = 4, all = 7 };
constexpr geometry_type operator|(geometry_type a, geometry_type b) { return geometry_type(int(a) | int(b)); }
enum class triangle_cull_mode { none, front, back };
enum class geometry_cull_mode { none, triangle, bounding_box, curve };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class forced_opacity { none, opaque, non_opaque };
enum class curve_type { round, flat, all };
enum class curve_basis { bspline, catmull_rom, linear, bezier, all };

struct ray {
  float3 origin;
  float3 direction;
  float min_distance;
  float max_distance;
  METALLOID_FUNC ray(float3 from = 0.0f, float3 to = 0.0f, float least = 0.0f, float most = INFINITY)
      : origin(from), direction(to), min_distance(least), max_distance(most) {}
};

#define METALLOID_RAYS METALLOID_UNSUPPORTED("ray tracing is")
#define METALLOID_SETTER(name) \
  template <typename... A>     \
  void name(A...);

template <typename... Tags>
struct METALLOID_RAYS acceleration_structure {
  template <typename... A>
  uint get_instance_count(A...) const;
  template <typename... A>
  float4x3 get_instance_transform(A...) const;

 private:
  ulong object_;
};
using primitive_acceleration_structure = acceleration_structure<>;
using instance_acceleration_structure = acceleration_structure<instancing>;
template <typename... Tags>
bool is_null_acceleration_structure(acceleration_structure<Tags...>);
bool is_null_primitive_acceleration_structure(primitive_acceleration_structure);
bool is_null_instance_acceleration_structure(instance_acceleration_structure);

template <typename... Tags>
struct METALLOID_RAYS intersection_function_table {
  uint size() const;
  bool empty() const;
  template <typename T, typename... A>
  T get_buffer(A...) const;
  template <typename Signature, typename... A>
  visible_function_table<Signature> get_visible_function_table(A...) const;
  METALLOID_SETTER(set_buffer)
  METALLOID_SETTER(set_visible_function_table)

 private:
  ulong object_;
};
template <typename... Tags>
bool is_null_intersection_function_table(intersection_function_table<Tags...>);

template <typename... Tags>
struct METALLOID_RAYS intersection_result {
  intersection_type type;
  float distance;
  uint primitive_id;
  uint geometry_id;
  const device void* primitive_data;
  float2 triangle_barycentric_coord;
  bool triangle_front_facing;
  uint instance_id;
  uint user_instance_id;
  float4x3 world_to_object_transform;
  float4x3 object_to_world_transform;
  float curve_parameter;
};

#define METALLOID_INTERSECTION_SETTINGS               \
  METALLOID_SETTER(set_triangle_front_facing_winding) \
  METALLOID_SETTER(set_triangle_cull_mode)            \
  METALLOID_SETTER(set_geometry_cull_mode)            \
  METALLOID_SETTER(set_opacity_cull_mode)             \
  METALLOID_SETTER(force_opacity)                     \
  METALLOID_SETTER(assume_geometry_type)              \
  METALLOID_SETTER(assume_curve_type)                 \
  METALLOID_SETTER(assume_curve_basis)                \
  METALLOID_SETTER(assume_curve_control_point_count)  \
  METALLOID_SETTER(assume_identity_transforms)        \
  METALLOID_SETTER(accept_any_intersection)           \
  METALLOID_SETTER(set_base_id)                       \
  METALLOID_SETTER(set_geometry_multiplier)           \
  METALLOID_SETTER(set_instance_multiplier)

template <typename... Tags>
struct METALLOID_RAYS intersector {
  using result_type = intersection_result<Tags...>;
  METALLOID_INTERSECTION_SETTINGS
  template <typename... A>
  result_type intersect(ray, A...) const;
  template <typename F, typename... A>
  void intersect_with_result_reference(F, A...) const;
};

struct METALLOID_RAYS intersection_params {
  METALLOID_INTERSECTION_SETTINGS
};

template <typename... Tags>
struct METALLOID_RAYS intersection_query {
  intersection_query() = default;
  template <typename... A>
  explicit intersection_query(ray, A...);
  METALLOID_SETTER(reset)
  METALLOID_SETTER(commit_triangle_intersection)
  METALLOID_SETTER(commit_bounding_box_intersection)
  METALLOID_SETTER(commit_curve_intersection)
  bool next();
  void abort();
  bool is_candidate_triangle_front_facing() const;
  bool is_committed_triangle_front_facing() const;
  bool is_candidate_non_opaque_bounding_box() const;
  float3 get_world_space_ray_origin() const;
  float3 get_world_space_ray_direction() const;
  float get_ray_min_distance() const;
  intersection_params get_intersection_params() const;
  float get_candidate_triangle_distance() const;
  float get_committed_distance() const;
  intersection_type get_candidate_intersection_type() const;
  intersection_type get_committed_intersection_type() const;
  uint get_candidate_primitive_id() const;
  uint get_committed_primitive_id() const;
  uint get_candidate_geometry_id() const;
  uint get_committed_geometry_id() const;
  uint get_candidate_instance_id() const;
  uint get_committed_instance_id() const;
  uint get_candidate_user_instance_id() const;
  uint get_committed_user_instance_id() const;
  float2 get_candidate_triangle_barycentric_coord() const;
  float2 get_committed_triangle_barycentric_coord() const;
  float3 get_candidate_ray_origin() const;
  float3 get_committed_ray_origin() const;
  float3 get_candidate_ray_direction() const;
  float3 get_committed_ray_direction() const;
  float4x3 get_candidate_object_to_world_transform() const;
  float4x3 get_committed_object_to_world_transform() const;
  float4x3 get_candidate_world_to_object_transform() const;
  float4x3 get_committed_world_to_object_transform() const;
  const device void* get_candidate_primitive_data() const;
  const device void* get_committed_primitive_data() const;
  float get_candidate_curve_parameter() const;
  float get_committed_curve_parameter() const;
};

#undef METALLOID_INTERSECTION_SETTINGS
#undef METALLOID_SETTER
#undef METALLOID_RAYS

}  // namespace raytracing
}  // namespace metal

#endif
