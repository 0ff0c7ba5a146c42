// What only graphics functions, ray tracing, and functions called through tables use, by name: sources often hold
// such functions beside their kernels. Nothing here has a definition.
#ifndef METALLOID_GRAPHICS_H
#define METALLOID_GRAPHICS_H

#include <metalloid/types.h>

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

#define METALLOID_NO_TABLES __attribute__((unavailable("function tables are not supported by Metalloid")))
template <typename Signature>
class METALLOID_NO_TABLES visible_function_table {};
#undef METALLOID_NO_TABLES

#define METALLOID_NO_COMMANDS __attribute__((unavailable("indirect command buffers are not supported by Metalloid")))
struct METALLOID_NO_COMMANDS command_buffer {};
struct METALLOID_NO_COMMANDS compute_command {};
struct METALLOID_NO_COMMANDS render_command {};
struct METALLOID_NO_COMMANDS compute_pipeline_state {};
struct METALLOID_NO_COMMANDS render_pipeline_state {};
#undef METALLOID_NO_COMMANDS

#define METALLOID_NO_IMAGEBLOCKS __attribute__((unavailable("imageblocks are not supported by Metalloid")))
template <typename T, typename... Layout>
class METALLOID_NO_IMAGEBLOCKS imageblock {};
#undef METALLOID_NO_IMAGEBLOCKS

namespace raytracing {
#define METALLOID_NO_RAYS __attribute__((unavailable("ray tracing is not supported by Metalloid")))
struct METALLOID_NO_RAYS ray {};
struct METALLOID_NO_RAYS triangle_data {};
struct METALLOID_NO_RAYS instancing {};
struct METALLOID_NO_RAYS world_space_data {};
struct METALLOID_NO_RAYS intersection_params {};
struct METALLOID_NO_RAYS primitive_acceleration_structure {};
struct METALLOID_NO_RAYS instance_acceleration_structure {};
template <typename... Tags>
class METALLOID_NO_RAYS acceleration_structure {};
template <typename... Tags>
class METALLOID_NO_RAYS intersector {};
template <typename... Tags>
class METALLOID_NO_RAYS intersection_query {};
template <typename... Tags>
class METALLOID_NO_RAYS intersection_result {};
template <typename... Tags>
class METALLOID_NO_RAYS intersection_function_table {};
#undef METALLOID_NO_RAYS
}  // namespace raytracing

}  // namespace metal

// What a kernel writes for a later indirect dispatch, draw or tessellation, with the layout that Metal's host API has.
struct MTLDispatchThreadgroupsIndirectArguments {
  metal::uint threadgroupsPerGrid[3];
};
struct MTLDispatchThreadsIndirectArguments {
  metal::uint threadsPerGrid[3];
  metal::uint threadsPerThreadgroup[3];
};
struct MTLStageInRegionIndirectArguments {
  metal::uint stageInOrigin[3];
  metal::uint stageInSize[3];
};
struct MTLDrawPrimitivesIndirectArguments {
  metal::uint vertexCount;
  metal::uint instanceCount;
  metal::uint vertexStart;
  metal::uint baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
  metal::uint indexCount;
  metal::uint instanceCount;
  metal::uint indexStart;
  int baseVertex;
  metal::uint baseInstance;
};
struct MTLDrawPatchIndirectArguments {
  metal::uint patchCount;
  metal::uint instanceCount;
  metal::uint patchStart;
  metal::uint baseInstance;
};
struct MTLQuadTessellationFactorsHalf {
  half edgeTessellationFactor[4];
  half insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
  half edgeTessellationFactor[3];
  half insideTessellationFactor;
};

#endif
