// Every header by its name; all are part of <metal_stdlib>, which sources see without an #include.
#include <TargetConditionals.h>
#include <metal_array>
#include <metal_atomic>
#include <metal_common>
#include <metal_compute>
#include <metal_extended_vector>
#include <metal_geometric>
#include <metal_integer>
#include <metal_limits>
#include <metal_logging>
#include <metal_math>
#include <metal_matrix>
#include <metal_numeric>
#include <metal_pack>
#include <metal_quadgroup>
#include <metal_relational>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_type_traits>
#include <metal_types>
#include <metal_uniform>
#include <simd/simd.h>

// Names of the host's <simd/simd.h>.
static_assert(metal::is_same_v<simd_float4, float4> && metal::is_same_v<simd::int3, int3>, "");

// The library's internal names that public kernels use.
#pragma METAL internals : enable
// RUN: --kernel internals --threads 32 --group 32 --arg out=f32[4]=zeros
// EXPECT out ~1e-6: 0.8414709848 32 3 496
kernel void internals(device float* out, uint i [[thread_position_in_grid]]) {
  const float total = __metal_simd_sum(float(i));
  if (i == 3) {
    out[0] = __metal_sin(1.0f, __METAL_FAST_MATH__);
    out[1] = __metal_get_simdgroup_size(ushort());
    out[2] = __metal_get_thread_index_in_simdgroup(ushort());
    out[3] = total;
  }
}
#pragma METAL internals : disable

// Overloads for bfloat that a program adds to namespace metal, as MLX does, are taken.
namespace metal {
METAL_FUNC bfloat exp(bfloat x) { return bfloat(__metal_exp(static_cast<float>(x), __METAL_MAYBE_FAST_MATH__)) + 1; }
METAL_FUNC bfloat max(bfloat x, bfloat y) { return x > y ? x : y; }
METAL_FUNC bfloat simd_sum(bfloat x) { return bfloat(__metal_simd_sum(static_cast<float>(x))) + 1; }
namespace precise {
METAL_FUNC bfloat exp(bfloat x) { return bfloat(2); }
}
}  // namespace metal
using namespace metal;
METAL_FUNC ulong simd_shuffle(ulong x, ushort) { return x + 1; }
// RUN: --kernel overloads --threads 1 --group 1 --arg out=f32[5]=zeros
// EXPECT out: 2 3 6 2 8
kernel void overloads(device float* out) {
  const bfloat zero = 0;
  out[0] = exp(zero);
  out[1] = max(bfloat(3), zero);
  out[2] = simd_sum(bfloat(5));
  out[3] = precise::exp(zero);
  out[4] = simd_shuffle(7ul, 0);
}
