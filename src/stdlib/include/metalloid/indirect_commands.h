// Indirect command buffers as far as a source needs them to be parsed, and the arguments of indirect dispatches and
// draws, which kernels write.
#ifndef METALLOID_INDIRECT_COMMANDS_H
#define METALLOID_INDIRECT_COMMANDS_H

#include <metalloid/types.h>
#include <metalloid/vec.h>

namespace metal {

enum class primitive_type { point, line, line_strip, triangle, triangle_strip };
enum class triangle_fill_mode { fill, lines };
enum class depth_clip_mode { clip, clamp };
enum class cull_mode { none, front, back };

#define METALLOID_COMMANDS METALLOID_UNSUPPORTED("indirect command buffers are")
#define METALLOID_HANDLE(name)     \
  struct METALLOID_COMMANDS name { \
   private:                        \
    ulong object_;                 \
  };                               \
  bool is_null_##name(name);
METALLOID_HANDLE(render_pipeline_state)
METALLOID_HANDLE(compute_pipeline_state)
METALLOID_HANDLE(depth_stencil_state)
#undef METALLOID_HANDLE

// As argument buffers hold it: 64 bits that name the object.
struct METALLOID_COMMANDS command_buffer {
  uint size() const;

 private:
  ulong object_;
};

#define METALLOID_COMMAND(name) \
  template <typename... A>      \
  void name(A...) const;
struct METALLOID_COMMANDS render_command {
  render_command() = default;
  explicit render_command(command_buffer commands, uint index);
  METALLOID_COMMAND(set_render_pipeline_state)
  METALLOID_COMMAND(set_depth_stencil_state)
  METALLOID_COMMAND(set_depth_bias)
  METALLOID_COMMAND(set_depth_clip_mode)
  METALLOID_COMMAND(set_cull_mode)
  METALLOID_COMMAND(set_front_facing_winding)
  METALLOID_COMMAND(set_triangle_fill_mode)
  METALLOID_COMMAND(set_vertex_buffer)
  METALLOID_COMMAND(set_fragment_buffer)
  METALLOID_COMMAND(set_object_buffer)
  METALLOID_COMMAND(set_mesh_buffer)
  METALLOID_COMMAND(set_object_threadgroup_memory_length)
  METALLOID_COMMAND(draw_primitives)
  METALLOID_COMMAND(draw_indexed_primitives)
  METALLOID_COMMAND(draw_patches)
  METALLOID_COMMAND(draw_indexed_patches)
  METALLOID_COMMAND(draw_mesh_threadgroups)
  METALLOID_COMMAND(draw_mesh_threads)
  METALLOID_COMMAND(copy_command)
  METALLOID_COMMAND(reset)
};
struct METALLOID_COMMANDS compute_command {
  compute_command() = default;
  explicit compute_command(command_buffer commands, uint index);
  METALLOID_COMMAND(set_compute_pipeline_state)
  METALLOID_COMMAND(set_kernel_buffer)
  METALLOID_COMMAND(set_threadgroup_memory_length)
  METALLOID_COMMAND(set_imageblock_size)
  METALLOID_COMMAND(set_stage_in_region)
  METALLOID_COMMAND(set_barrier)
  METALLOID_COMMAND(clear_barrier)
  METALLOID_COMMAND(concurrent_dispatch_threadgroups)
  METALLOID_COMMAND(concurrent_dispatch_threads)
  METALLOID_COMMAND(copy_command)
  METALLOID_COMMAND(reset)
};
#undef METALLOID_COMMAND
#undef METALLOID_COMMANDS

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
