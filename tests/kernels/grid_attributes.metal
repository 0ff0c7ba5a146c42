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

// Threadgroups cut on three sides: what each thread knows of its own agrees, and out tells the size of its threadgroup.
// RUN: --kernel cut --threads 9,5,3 --group 4,3,2 --arg out=u32[135]=zeros
// EXPECT out: ((432 x 8 132) x 3 (422 x 8 122) x 2) x 2 (431 x 8 131) x 3 (421 x 8 121) x 2
kernel void cut(device uint* out, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]],
                uint3 size [[threads_per_threadgroup]], uint3 nominal [[dispatch_threads_per_threadgroup]],
                uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                uint3 local [[thread_position_in_threadgroup]], uint index [[thread_index_in_threadgroup]]) {
  bool right = all(p == group * nominal + local) && index == (local.z * size.y + local.y) * size.x + local.x &&
               all(groups == uint3(3, 2, 2)) && all(nominal == uint3(4, 3, 2));
  // Each thread adds once.
  out[(p.z * n.y + p.y) * n.x + p.x] += right ? size.x * 100 + size.y * 10 + size.z : 1;
}

// Lanes that are there, number of the simdgroup, simdgroups of this threadgroup and of a whole one: 70 threads are 32,
// 32 and 6, the 40 of the cut threadgroup 32 and 8.
// RUN: --kernel simdgroups --threads 110 --group 70 --arg out=u32[110]=zeros
// EXPECT out: 33032 x 32 33132 x 32 33206 x 6 32032 x 32 32108 x 8
kernel void simdgroups(device uint* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]], uint count [[simdgroups_per_threadgroup]],
                       uint nominal [[dispatch_simdgroups_per_threadgroup]],
                       uint quad [[quadgroup_index_in_threadgroup]], uint in_quad [[thread_index_in_quadgroup]],
                       uint width [[threads_per_simdgroup]]) {
  uint active = popcount(uint(ulong(simd_active_threads_mask())));
  out[i] = active + 100 * simdgroup + 1000 * count + 10000 * nominal;
  if (quad != (i % 70) / 4 || in_quad != i % 70 % 4 || width != 32 || lane != i % 70 % 32) out[i] = 0;
}

// Metal wants positions and sizes of one kernel to be alike: all scalars, or all vectors of one length.
// RUN: --kernel pairs --threads 8,4 --group 4,4 --arg out=u32[32]=zeros
// EXPECT out: (160000 160001 160002 160003 160100 160101 160102 160103 160004 160005 160006 160007 160104 160105 160106
// EXPECT+: 160107 160008 160009 160010 160011 160108 160109 160110 160111 160012 160013 160014 160015 160112 160113
// EXPECT+: 160114 160115)
kernel void pairs(device uint* out, ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]],
                  uint2 size [[threads_per_threadgroup]], ushort2 group [[threadgroup_position_in_grid]],
                  ushort lane [[thread_index_in_simdgroup]], ushort index [[thread_index_in_threadgroup]]) {
  out[p.y * n.x + p.x] = size.x * size.y * 10000 + group.x * 100 + group.y * 1000 + (lane == index ? lane : 99);
}

// RUN: --kernel scalars --threads 12 --group 4 --arg out=u32[12]=zeros
// EXPECT out: 120400 x 4 120401 x 4 120402 x 4
kernel void scalars(device uint* out, ushort p [[thread_position_in_grid]], uint n [[threads_per_grid]],
                    ushort size [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  out[p] = n * 10000 + size * 100 + group;
}
