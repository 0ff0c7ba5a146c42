// The gradient of an embedding: each token adds to the row of its word, and the same word comes again in another
// threadgroup.
// CHECK: --threads 32,4 --group 32,1 --arg tokens=i32[4]=2,0,1,2 --arg gradient=f32[4,32]=uniform --arg table=f32[3,32]=zeros
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
void accumulate(device float* to, float value) {
  atomic_fetch_add_explicit((device atomic_float*)to, value, memory_order_relaxed);
}
#else
void accumulate(device float* to, float value) {
  *to += value;  // @add
}
#endif

kernel void embedding_backward(device const int* tokens, device const float* gradient, device float* table,
                               uint2 p [[thread_position_in_grid]]) {
  accumulate(table + tokens[p.y] * 32 + p.x, gradient[p.y * 32 + p.x]);
}
