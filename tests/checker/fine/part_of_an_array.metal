// Arrays, vectors and structs of which a part is set, and no more than that is read.
// CHECK: --threads 4 --group 4 --arg x=f32[16]=arange --arg out=f32[4]=zeros --arg n=3
#include <metal_stdlib>
using namespace metal;

struct Stack {
  float values[8];
  uint count;
};

static void push(thread Stack& stack, float value) { stack.values[stack.count++] = value; }
static float pop(thread Stack* stack) { return stack->values[--stack->count]; }
static Stack copy_of(Stack stack) { return stack; }

kernel void sums(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  float own[4];
  for (uint k = 0; k < n; ++k) own[k] = x[4 * i + k];
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += own[k];
  Stack stack;
  stack.count = 0;
  for (uint k = 0; k < n; ++k) push(stack, x[4 * i + k]);
  Stack other = copy_of(stack);
  while (other.count > 1) sum += pop(&other);
  float4 v;
  v.xy = float2(sum, 1);
  v = v * 2;
  array<float2, 3> pairs;
  pairs[1] = v.xy;
  array<float2, 3> copies = pairs;
  float2x2 m;
  m[0] = copies[1];
  out[i] = m[0].x + m[0][1];
}
