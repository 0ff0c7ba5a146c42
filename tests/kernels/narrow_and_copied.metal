// Variables of a thread that are copied as a whole, read in another width than they are written in, or long; and many
// accesses of 8 and 16 bits from anywhere, which vectors have no instructions for.
#include <metal_stdlib>
using namespace metal;

struct Number {
  uint limbs[9];
  ushort carry;
};

static Number shifted(Number n, uint by) {
  Number result = n;
  for (uint i = 0; i < 9; ++i) result.limbs[i] = n.limbs[(i + by) % 9] + n.carry;
  result.carry = ushort(n.carry + 1);
  return result;
}

// RUN: --kernel copied --threads 35 --group 35 --arg x=u32[35]=arange --arg out=u32[35]=zeros
// ENGINE: simd
// EXPECT out: 35 56 77 98 119 116 146 167 179 191 206 227 257 269 272 296 317 338 341 362 386 407 419 431 452 467 497 491 512 542 557 578 581 602 623
kernel void copied(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
  Number a;
  for (uint k = 0; k < 9; ++k) a.limbs[k] = x[i] + k;
  a.carry = 1;
  Number b = shifted(a, i % 9);
  Number copies[3] = {a, b, shifted(b, x[i] % 5)};
  Number last = copies[2];
  uint sum = 0;
  for (uint k = 0; k < 9; k += 4) sum += last.limbs[(k + i) % 9];
  out[i] = sum + copies[1].limbs[x[i] % 9] * 2 + copies[i % 3 == 3].limbs[0] + x[i] * 11 + last.carry * 4;
}

// RUN: --kernel in_another_width --threads 33 --group 33 --arg x=u32[33]=arange --arg out=u32[33]=zeros
// ENGINE: simd
// EXPECT out: 0 16843009 33686018 50529027 67372036 84215045 101058054 117901063 134744072 151587081 168430090 185273099 202116108 218959117 235802126 252645135 269488144 286331153 303174162 320017171 336860180 353703189 370546198 387389207 404232216 421075225 437918234 454761243 471604252 488447261 505290270 522133279 538976288
kernel void in_another_width(device const uint* x, device uint* out, uint i [[thread_position_in_grid]]) {
  uchar bytes[16];
  for (uint k = 0; k < 16; ++k) bytes[(k + i) % 16] = uchar(x[i]);
  uint4 words = *reinterpret_cast<thread uint4*>(bytes);
  thread ushort* halves = reinterpret_cast<thread ushort*>(bytes);
  out[i] = words[i % 4] + halves[i % 8] - uint(bytes[3]) * 257;
}

// RUN: --kernel filled --threads 33 --group 33 --arg out=u32[33]=zeros
// ENGINE: simd
// EXPECT out: 500 x 33
kernel void filled(device uint* out, uint i [[thread_position_in_grid]]) {
  uchar many[500] = {};
  uchar others[500];
  for (uint k = 0; k < 500; ++k) many[(k * 7 + i) % 500] += 1;
  for (uint k = 0; k < 500; ++k) others[k] = many[k];
  uint sum = 0;
  for (uint k = 0; k < 500; ++k) sum += others[(k + i) % 500];
  out[i] = sum;
}

#define EACH(what) \
  what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11) what(12) what(13) \
  what(14) what(15) what(16) what(17) what(18) what(19) what(20) what(21) what(22) what(23) what(24) what(25) what(26) \
  what(27) what(28) what(29) what(30) what(31)

// Up to the last byte of the buffer, by as many lanes as there are.
// RUN: --kernel bytes --threads 37 --group 37 --arg x=u8[68]=arange --arg out=u32[37]=zeros
// ENGINE: simd
// EXPECT out: 528 560 592 624 656 688 720 752 784 816 848 880 912 944 976 1008 1040 1072 1104 1136 1168 1200 1232 1264 1296 1328 1360 1392 1424 1456 1488 1520 1552 1584 1616 1648 1392
// RUN: --kernel bytes --threads 37 --group 37 --arg x=u8[67]=arange --arg out=u32[37]=zeros
// ERROR out_of_bounds: kernel 'bytes' reads outside of argument 'x' (buffer 0): element 67 of 67
kernel void bytes(device const uchar* x, device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum = 0;
#define ONE(k) sum += x[(k * 5 + i * 3) % 32 + i + (i == 36 ? -(k > 15 ? 16 : 0) : 1)];
  if (i != 40) { EACH(ONE) }
#undef ONE
  out[i] = sum;
}

// Halves that begin at any byte.
// RUN: --kernel halves --threads 35 --group 35 --arg x=u8[101]=arange --arg out=u32[35]=zeros
// ENGINE: simd
// EXPECT out: 263136 271360 279584 287808 296032 304256 312480 320704 328928 337152 345376 353600 361824 370048 378272 386496 394720 402944 411168 419392 427616 435840 444064 452288 460512 468736 476960 485184 493408 501632 509856 518080 526304 534528 542752
kernel void halves(device const uchar* x, device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum = 0;
#define ONE(k) sum += *reinterpret_cast<device const ushort*>(x + ((k * 7 + i * 5) % 32 * 2 + i) % 100);
  EACH(ONE)
#undef ONE
  out[i] = sum;
}

// RUN: --kernel put --threads 35 --group 35 --arg x=u16[140]=zeros
// ENGINE: simd
// EXPECT x: 0 100 200 300 3 103 203 303 6 106 206 306 9 109 209 309 12 112 212 312 15 115 215 315 18 118 218 318 21 121 221 321 24 124 224 324 27 127 227 327 30 130 230 330 33 133 233 333 1 101 201 301 4 104 204 304 7 107 207 307 10 110 210 310 13 113 213 313 16 116 216 316 19 119 219 319 22 122 222 322 25 125 225 325 28 128 228 328 31 131 231 331 34 134 234 334 2 102 202 302 5 105 205 305 8 108 208 308 11 111 211 311 14 114 214 314 17 117 217 317 20 120 220 320 23 123 223 323 26 126 226 326 29 129 229 329 32 132 232 332
kernel void put(device ushort* x, uint i [[thread_position_in_grid]]) {
  const uint place = i * 12 % 35;
  device ushort* own = x + (i * 12 % 35) * 4;
  for (uint k = 0; k < 4; ++k) own[k] = ushort(i + 100 * k);
  if (place == 99) own[0] = 1;
}

template <typename To, typename From>
To as(From value) {
  return static_cast<To>(value);
}

// Any bytes may be copied as bools. Where they count, the lowest bit does.
kernel void copied_bools(device const bool* x [[buffer(0)]], device bool* copy [[buffer(1)]],
                         device uchar* chosen [[buffer(2)]], device bool* other [[buffer(3)]],
                         uint i [[thread_position_in_grid]]) {
  copy[i] = x[i];
  other[i] = as<bool>(x[i]);
  chosen[i] = x[i] ? 7 : 5;
}
// RUN: --kernel copied_bools --threads 5 --group 5 --arg x=u8[5]=0,1,2,156,255 --arg copy=u8[5]=zeros --arg chosen=u8[5]=zeros --arg other=u8[5]=zeros
// EXPECT copy: 0 1 2 156 255
// EXPECT other: 0 1 2 156 255
// EXPECT chosen: 5 7 5 5 7
