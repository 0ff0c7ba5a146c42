// Every position and size that a thread can ask for, on a grid whose edge threadgroups are cut.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel linear --threads 10 --group 4 --arg out=u32[10,4]=zeros
// EXPECT out: 0 0 0 10 1 1 0 10 2 2 0 10 3 3 0 10 4 0 1 10 5 1 1 10 6 2 1 10 7 3 1 10 8 0 2 10 9 1 2 10
kernel void linear(device uint4* out, uint p [[thread_position_in_grid]], uint l [[thread_position_in_threadgroup]],
                   uint g [[threadgroup_position_in_grid]], uint n [[threads_per_grid]]) {
  out[p] = uint4(p, l, g, n);
}

// The last threadgroup is smaller than the others, and says so.
// RUN: --kernel sizes --threads 10 --group 4 --arg out=u32[10,4]=zeros
// EXPECT out: 4 4 3 1 4 4 3 1 4 4 3 1 4 4 3 1 4 4 3 1 4 4 3 1 4 4 3 1 4 4 3 1 2 4 3 1 2 4 3 1
kernel void sizes(device uint4* out, uint p [[thread_position_in_grid]], uint t [[threads_per_threadgroup]],
                  uint d [[dispatch_threads_per_threadgroup]], uint g [[threadgroups_per_grid]],
                  uint s [[simdgroups_per_threadgroup]]) {
  out[p] = uint4(t, d, g, s);
}

// RUN: --kernel planar --threads 3,2 --group 2,2 --arg out=u16[6,4]=zeros
// EXPECT out: 0 0 0 0 1 0 1 0 0 0 0 1 0 1 2 0 1 1 3 0 0 1 1 1
kernel void planar(device ushort4* out, ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]],
                   ushort2 l [[thread_position_in_threadgroup]], ushort i [[thread_index_in_threadgroup]],
                   ushort2 g [[threadgroup_position_in_grid]]) {
  out[p.y * n.x + p.x] = ushort4(l.x, l.y, i, g.x);
}

// RUN: --kernel lanes --threads 70 --group 70 --arg out=u32[70]=zeros
// EXPECT out: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 200 201 202 203 204 205
kernel void lanes(device uint* out, uint p [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                  uint group [[simdgroup_index_in_threadgroup]]) {
  out[p] = lane + 100 * group;
}

// RUN: --kernel volume --threadgroups 2,1,2 --group 1,2,1 --arg out=u32[8]=zeros
// EXPECT out: 0 1 10 11 100 101 110 111
kernel void volume(device uint* out, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {
  out[(p.z * n.y + p.y) * n.x + p.x] = p.x + 10 * p.y + 100 * p.z;
}
