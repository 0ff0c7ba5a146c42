// Members of vectors of four numbers of 16 or 8 bits, and of structures of eight bytes, which lanes read side by side.
#include <metal_stdlib>
using namespace metal;

struct Bytes {
  uchar each[8];
};

// RUN: --kernel halfs --threads 41 --group 41 --arg x=f16[164]=arange --arg out=f32[41]=zeros
// EXPECT out: 111 347 583 819 1055 1291 1527 1763 463 699 935 1171 1407 1643 1879 2115 815 1051 1287 1523 1759 1995 2231 2467 1167 1403 1639 1875 2111 2347 2583 2819 1519 1755 1991 2227 2463 2699 2935 3171 1871
kernel void halfs(device const half4* x, device float* out, uint i [[thread_position_in_grid]]) {
  float4 own = float4(x[i]), shared = float4(x[i % 8]);
  out[i] = dot(own, float4(1, 2, 3, 5)) + dot(shared, float4(7, 11, 13, 17));
}

// RUN: --kernel shorts --threads 41 --group 41 --arg x=u16[164]=arange --arg out=u32[41]=zeros
// EXPECT out: 5911 17219 28527 39835 51143 62451 73759 85067 96375 107683 118991 130299 141607 152915 164223 175531 186839 198147 209455 220763 232071 243379 254687 265995 277303 288611 299919 311227 322535 333843 345151 356459 367767 379075 390383 401691 412999 424307 435615 446923 458231
kernel void shorts(device const ushort4* x, device uint* out, uint i [[thread_position_in_grid]]) {
  ushort4 own = x[i] * ushort(257);
  out[i] = own.x + own.y * 2u + own.z * 3u + own.w * 5u;
}

// RUN: --kernel bytes --threads 41 --group 41 --arg x=u8[164]=arange --arg y=u8[328]=arange --arg out=u32[41]=zeros
// EXPECT out: 191 523 855 1187 1519 1851 2183 2515 2847 3179 3511 3843 4175 4507 4839 5171 5503 5835 6167 6499 6831 7163 7495 7827 8159 8491 8823 9155 9487 9819 10151 10483 1599 1931 2263 2595 2927 3259 3591 3923 4255
kernel void bytes(device const uchar4* x, device const Bytes* y, device uint* out, uint i [[thread_position_in_grid]]) {
  uint4 own = uint4(x[i]);
  uint sum = own.x + own.y * 2 + own.z * 3 + own.w * 5;
  for (uint k = 0; k < 8; ++k) sum += y[i].each[k] * (k + 1);
  out[i] = sum;
}
