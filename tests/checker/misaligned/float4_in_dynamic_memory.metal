// Threadgroup memory for a few counters and, right behind them, vectors.
// CHECK: --threads 4 --group 4 --threadgroup-memory 0=96 --arg out=f32[4]=zeros
// FINDS: misaligned put
// FINDS: misaligned take
#include <metal_stdlib>
using namespace metal;

kernel void vectors(device float* out, threadgroup uint* memory [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  threadgroup float4* v = (threadgroup float4*)(memory + 4);
#else
  threadgroup float4* v = (threadgroup float4*)(memory + 3);
#endif
  v[i] = float4(i, 1, 2, 3);      // @put
  out[i] = dot(v[i], float4(1));  // @take
}
