// An embedding looks up token -1, which the tokeniser uses for padding.
// CHECK: --threads 8,4 --group 8,4 --arg table=bf16[16,8]=uniform --arg tokens=i32[4]=3,15,-1,-1 --arg out=bf16[4,8]=zeros
// FINDS: out-of-bounds look_up
#include <metal_stdlib>
using namespace metal;

kernel void embed(device const bfloat* table, device const int* tokens, device bfloat* out,
                  uint2 p [[thread_position_in_grid]]) {
  const int token = tokens[p.y];
#ifdef REPAIRED
  out[p.y * 8 + p.x] = token < 0 ? bfloat(0.0f) : table[token * 8 + int(p.x)];
#else
  out[p.y * 8 + p.x] = table[token * 8 + int(p.x)];  // @look_up
#endif
}
