// Texture and sampler types by name only, so that a source that uses one is told what is missing.
#ifndef METALLOID_TEXTURE_H
#define METALLOID_TEXTURE_H

#include <metalloid/types.h>

#define METALLOID_NO_TEXTURES __attribute__((unavailable("textures are not supported by Metalloid")))
#define METALLOID_NO_SAMPLERS __attribute__((unavailable("samplers are not supported by Metalloid")))

namespace metal {

enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };

#define METALLOID_TEXTURE(name, default_access)                                                                       \
  template <typename T, access a = access::default_access, memory_coherence coherence = memory_coherence_threadgroup> \
  class METALLOID_NO_TEXTURES name {};
METALLOID_TEXTURE(texture1d, sample)
METALLOID_TEXTURE(texture1d_array, sample)
METALLOID_TEXTURE(texture2d, sample)
METALLOID_TEXTURE(texture2d_array, sample)
METALLOID_TEXTURE(texture2d_ms, read)
METALLOID_TEXTURE(texture2d_ms_array, read)
METALLOID_TEXTURE(texture3d, sample)
METALLOID_TEXTURE(texturecube, sample)
METALLOID_TEXTURE(texturecube_array, sample)
METALLOID_TEXTURE(texture_buffer, read)
METALLOID_TEXTURE(depth2d, sample)
METALLOID_TEXTURE(depth2d_array, sample)
METALLOID_TEXTURE(depth2d_ms, read)
METALLOID_TEXTURE(depth2d_ms_array, read)
METALLOID_TEXTURE(depthcube, sample)
METALLOID_TEXTURE(depthcube_array, sample)
#undef METALLOID_TEXTURE

enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class compare_func { never, less, less_equal, greater, greater_equal, equal, not_equal, always };

struct METALLOID_NO_SAMPLERS sampler {
  template <typename... Settings>
  METALLOID_FUNC constexpr sampler(Settings...) {}
};

}  // namespace metal

#endif
