// Operations across lanes inside of functions: whether a call is inlined or stays, its lanes are those that made this
// call. calls.metal has more of functions that stay.
#include <metal_stdlib>
using namespace metal;

#define MASK uint(ulong(simd_active_threads_mask()))
#define TRACE(t) t = t * 31 + MASK
#define NOINLINE __attribute__((noinline))

static uint inlined(uint i) { return i < 20 ? MASK : simd_sum(i); }
static NOINLINE uint kept(uint i) { return i < 20 ? MASK : simd_sum(i); }

// From both arms and behind them, inlined and kept alike.
// RUN: --kernel from_both_arms --threads 32 --group 32 --arg out=u32[32,4]=zeros
// EXPECT out: (349525 349525 1048575 1048575 699050 699050 1048575 1048575) x 10 (150 150 306 306 156 156 306 306) x
// EXPECT+: 6
kernel void from_both_arms(device uint4* out, uint i [[thread_position_in_grid]]) {
  uint a, b;
  if (i % 2) {
    a = inlined(i);
    b = kept(i);
  } else {
    a = inlined(i);
    b = kept(i);
  }
  out[i] = uint4(a, b, inlined(i), kept(i));
}

// In loops, with operations around the calls.
// RUN: --kernel in_loops --threads 32 --group 32 --arg out=u32[32]=zeros
// EXPECT out: 4294967295 953539167 2338494687 3791195031 4294967295 30338769 2338494687 1564012263 4294967295
// EXPECT+: 953539167 4201142481 1564012263 4294967295 953539167 3815915091 567179865 4294967295 953539167 2338494687
// EXPECT+: 2367889291 4294967295 231259 222398587 2599391442 4294967295 7253 222398587 3271725884 4294967295 231259
// EXPECT+: 7128821 3271725884
kernel void in_loops(device uint* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  for (uint k = 0; k < i % 4; ++k) {
    trace = trace * 31 + kept(i);
    if ((i + k) % 5 == 0) continue;
    trace = trace * 31 + (k % 2 ? inlined(i) : kept(i + 1));
  }
  TRACE(trace);
  out[i] = trace;
}

static uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static uint deep(uint n) { return n == 0 ? simd_sum(1u) : deep(n - 1) + 1; }

// RUN: --kernel recursive --threads 64 --group 64 --arg out=u32[64]=zeros
// EXPECT out: (37000 37001 37001 37002 37003 37005 37008 37013 37021 37034 37055 37089 37144 37233 37377 37610) x 4
kernel void recursive(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = fibonacci(i % 16) + 1000 * deep(5);
}

// A tree of calls, each with the lanes that came by the same way.
static uint tree(uint depth, uint way, thread uint& trace) {
  TRACE(trace);
  if (depth == 0) return 1;
  uint leaves = 0;
  if (way & 1) leaves += tree(depth - 1, way >> 1, trace);
  leaves += tree(depth - 1, way >> 2, trace);
  TRACE(trace);
  return leaves;
}

// RUN: --kernel tree_of_calls --threads 32 --group 32 --arg out=u32[32,2]=zeros
// EXPECT out: 1 4294967264 2 2112456156 1 584128416 1 4294967264 1 2454236384 3 2004822838 1 4294967264 2 2112456156
// EXPECT+: 1 584128416 1 4294967264 1 2454236384 3 1779784130 1 4294967264 2 2112456156 2 2235823730 1 4294967264 1
// EXPECT+: 2454236384 2 2377792092 1 4294967264 2 2112456156 2 2235823730 1 4294967264 1 2454236384 4 646445200 1
// EXPECT+: 4294967264 2 2112456156 1 584128416 1 4294967264 1 2454236384 3 2004822838 1 4294967264 2 2112456156
kernel void tree_of_calls(device uint2* out, uint i [[thread_position_in_grid]]) {
  uint trace = 0;
  uint leaves = tree(i % 3, i, trace);
  TRACE(trace);
  out[i] = uint2(leaves, trace);
}

static uint exchange(uint n, threadgroup uint* t, uint i) {
  uint own[4] = {i, i + 1, i + 2, i + 3};
  t[i] = own[n & 3];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint other = t[i ^ 33];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return n == 0 ? other : exchange(n - 1, t, i) + other + own[(n + 1) & 3];
}

// With o = i ^ 33, at depths 2, 1 and 0: (o + 2) + (i + 3) + (o + 1) + (i + 2) + o, and 2 * i from the array.
// RUN: --kernel barriers_in_recursion --threads 512 --group 256 --arg right=u32[512]=zeros
// EXPECT right: 1 x 512
kernel void barriers_in_recursion(device uint* right, uint i [[thread_index_in_threadgroup]],
                                  uint g [[thread_position_in_grid]]) {
  threadgroup uint t[256];
  uint a[16];
  for (uint k = 0; k < 16; ++k) a[k] = k * i;
  uint depth = simd_max(i & 1) + 1;
  right[g] = exchange(depth, t, i) + a[depth] == 3 * (i ^ 33) + 4 * i + 8;
}
