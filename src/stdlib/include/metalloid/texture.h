// Textures and samplers as far as a source needs them to be parsed: no member has a definition, and kernels that take
// one are refused when somebody wants to run them. So one kernel with a texture does not spoil a library of others.
#ifndef METALLOID_TEXTURE_H
#define METALLOID_TEXTURE_H

#include <metalloid/types.h>
#include <metalloid/vec.h>

// The class of kernel arguments ([[texture(n)]] or [[sampler(n)]]) that objects of a type are.
#define METALLOID_RESOURCE(name) __attribute__((annotate("metalloid." name)))

namespace metal {

enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };

enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class s_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class t_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class r_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class compare_func { never, less, less_equal, greater, greater_equal, equal, not_equal, always };
enum class reduction { weighted_average, minimum, maximum };
enum class component { x, y, z, w };

// What a sampler is made of, and what a sample is taken with.
#define METALLOID_SETTING(name, type)                            \
  struct name {                                                  \
    type value;                                                  \
    METALLOID_FUNC constexpr explicit name(type x) : value(x) {} \
  };
METALLOID_SETTING(max_anisotropy, int)
METALLOID_SETTING(level, float)
METALLOID_SETTING(bias, float)
METALLOID_SETTING(min_lod_clamp, float)
#undef METALLOID_SETTING
struct lod_clamp {
  float low, high;
  METALLOID_FUNC constexpr lod_clamp(float a, float b) : low(a), high(b) {}
};
struct gradient2d {
  float2 x, y;
  METALLOID_FUNC gradient2d(float2 a, float2 b) : x(a), y(b) {}
};
struct gradient3d {
  float3 x, y;
  METALLOID_FUNC gradient3d(float3 a, float3 b) : x(a), y(b) {}
};
struct gradientcube {
  float3 x, y;
  METALLOID_FUNC gradientcube(float3 a, float3 b) : x(a), y(b) {}
};

// As argument buffers hold them: 64 bits that name the object.
struct METALLOID_RESOURCE("sampler") sampler {
  sampler() = default;
  template <typename... Settings>
  METALLOID_FUNC constexpr explicit sampler(Settings...) {}

 private:
  ulong object_ = 0;
};

// What a sample of a texture with gaps returns.
template <typename T>
struct sparse_color {
  bool resident() const;
  T value() const;
};

// Result is what sample and read return: a vector of four, or the number of a depth texture.
#define METALLOID_TEXTURE(name, default_access, Result)                                                               \
  template <typename T, access a = access::default_access, memory_coherence coherence = memory_coherence_threadgroup> \
  struct METALLOID_RESOURCE("texture") name {                                                                         \
    template <typename... A>                                                                                          \
    Result sample(A...) const;                                                                                        \
    template <typename... A>                                                                                          \
    T sample_compare(A...) const;                                                                                     \
    template <typename... A>                                                                                          \
    vec<T, 4> gather(A...) const;                                                                                     \
    template <typename... A>                                                                                          \
    vec<T, 4> gather_compare(A...) const;                                                                             \
    template <typename... A>                                                                                          \
    Result read(A...) const;                                                                                          \
    template <typename... A>                                                                                          \
    sparse_color<Result> sparse_sample(A...) const;                                                                   \
    template <typename... A>                                                                                          \
    sparse_color<T> sparse_sample_compare(A...) const;                                                                \
    template <typename... A>                                                                                          \
    sparse_color<vec<T, 4>> sparse_gather(A...) const;                                                                \
    template <typename... A>                                                                                          \
    sparse_color<vec<T, 4>> sparse_gather_compare(A...) const;                                                        \
    template <typename... A>                                                                                          \
    sparse_color<Result> sparse_read(A...) const;                                                                     \
    template <typename... A>                                                                                          \
    void write(vec<T, 4>, A...) const;                                                                                \
    template <typename... A>                                                                                          \
    void write(T, A...) const;                                                                                        \
    template <typename... A>                                                                                          \
    uint get_width(A...) const;                                                                                       \
    template <typename... A>                                                                                          \
    uint get_height(A...) const;                                                                                      \
    template <typename... A>                                                                                          \
    uint get_depth(A...) const;                                                                                       \
    template <typename... A>                                                                                          \
    float calculate_clamped_lod(A...) const;                                                                          \
    template <typename... A>                                                                                          \
    float calculate_unclamped_lod(A...) const;                                                                        \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_load(A...) const;                                                                                \
    template <typename... A>                                                                                          \
    void atomic_store(A...) const;                                                                                    \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_exchange(A...) const;                                                                            \
    template <typename... A>                                                                                          \
    bool atomic_compare_exchange_weak(A...) const;                                                                    \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_add(A...) const;                                                                           \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_sub(A...) const;                                                                           \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_and(A...) const;                                                                           \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_or(A...) const;                                                                            \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_xor(A...) const;                                                                           \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_min(A...) const;                                                                           \
    template <typename... A>                                                                                          \
    vec<T, 4> atomic_fetch_max(A...) const;                                                                           \
    uint get_array_size() const;                                                                                      \
    uint get_num_mip_levels() const;                                                                                  \
    uint get_num_samples() const;                                                                                     \
    void fence() const;                                                                                               \
                                                                                                                      \
   private:                                                                                                           \
    ulong object_;                                                                                                    \
  };                                                                                                                  \
  template <typename T, access a, memory_coherence coherence>                                                         \
  bool is_null_texture(name<T, a, coherence>);
#define METALLOID_COMMA ,
METALLOID_TEXTURE(texture1d, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture1d_array, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture2d, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture2d_array, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture2d_ms, read, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture2d_ms_array, read, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture3d, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texturecube, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texturecube_array, sample, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(texture_buffer, read, vec<T METALLOID_COMMA 4>)
METALLOID_TEXTURE(depth2d, sample, T)
METALLOID_TEXTURE(depth2d_array, sample, T)
METALLOID_TEXTURE(depth2d_ms, read, T)
METALLOID_TEXTURE(depth2d_ms_array, read, T)
METALLOID_TEXTURE(depthcube, sample, T)
METALLOID_TEXTURE(depthcube_array, sample, T)
#undef METALLOID_TEXTURE
#undef METALLOID_COMMA

}  // namespace metal

#endif
