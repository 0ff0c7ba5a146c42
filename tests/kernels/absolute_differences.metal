// Absolute differences without a sign that reach beyond half of their type, of constants that differ between the lanes
// and a small number: the code generator has instructions for them, and for those with a sign.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel of_ulong --threads 8 --group 8 --arg n=u64[1]=32 --arg out=u64[8]=zeros
// EXPECT out: 5 7889105359876397069 15778210719752794143 5220572005919639601 13109677365796036675 2552038651962882133 10441144011839279207 18330249371715676281
kernel void of_ulong(constant ulong& n, device ulong* out, uint i [[thread_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
  out[i] = absdiff(ulong(ctz(n)), ulong(lane) * 7889105359876397074ul);
}

// RUN: --kernel of_uint --threads 8 --group 8 --arg n=u32[1]=32 --arg out=u32[8]=zeros
// EXPECT out: 5 1837405198 3674810401 1217248308 3054653511 597091418 2434496621 4271901824
kernel void of_uint(constant uint& n, device uint* out, uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  out[i] = absdiff(uint(ctz(n)), lane * 1837405203u);
}

// RUN: --kernel most_less_least --threads 8 --group 8 --arg n=u64[1]=32 --arg out=u64[8]=zeros
// EXPECT out: 5 7889105359876397069 15778210719752794143 5220572005919639601 13109677365796036675 2552038651962882133 10441144011839279207 18330249371715676281
kernel void most_less_least(constant ulong& n, device ulong* out, uint i [[thread_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]]) {
  const ulong a = ctz(n), b = ulong(lane) * 7889105359876397074ul;
  out[i] = max(a, b) - min(a, b);
}

// RUN: --kernel either_saturated --threads 8 --group 8 --arg n=u64[1]=32 --arg out=u64[8]=zeros
// EXPECT out: 5 7889105359876397069 15778210719752794143 5220572005919639601 13109677365796036675 2552038651962882133 10441144011839279207 18330249371715676281
kernel void either_saturated(constant ulong& n, device ulong* out, uint i [[thread_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const ulong a = ctz(n), b = ulong(lane) * 7889105359876397074ul;
  out[i] = subsat(a, b) | subsat(b, a);
}
