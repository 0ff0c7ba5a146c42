#include <metal_stdlib>
using namespace metal;

kernel void f(device uint* x, uint i [[thread_position_in_threadgroup]]) { threadgroup uint t[64]; for (uint k = 0; k < x[i] % 3 + 1; ++k) { t[i] = k; threadgroup_barrier(mem_flags::mem_threadgroup); } x[i] = t[i]; }