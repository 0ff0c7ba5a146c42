// Copies between layouts and types, with the conjugate and the negative of lazy views.
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct copy_identity_functor {
  template <typename T>
  T operator()(T x) {
    return x;
  }
};
struct copy_neg_functor {
  template <typename T>
  T operator()(T x) {
    return T(-x);
  }
};
struct copy_conj_functor {
  template <typename T>
  T operator()(T z) {
    return T(z.x, -z.y);
  }
};
struct copy_conj_neg_functor {
  template <typename T>
  T operator()(T z) {
    return T(-z.x, z.y);
  }
};

#define EVERY_TYPE(NAME)                   \
  REGISTER_UNARY_OP(NAME, float, float);   \
  REGISTER_UNARY_OP(NAME, half, half);     \
  REGISTER_UNARY_OP(NAME, bfloat, bfloat); \
  REGISTER_UNARY_OP(NAME, long, long);     \
  REGISTER_UNARY_OP(NAME, int, int);       \
  REGISTER_UNARY_OP(NAME, short, short);   \
  REGISTER_UNARY_OP(NAME, char, char);     \
  REGISTER_UNARY_OP(NAME, uchar, uchar);   \
  REGISTER_UNARY_OP(NAME, float2, float2); \
  REGISTER_UNARY_OP(NAME, half2, half2)

EVERY_TYPE(copy_identity);
REGISTER_UNARY_OP(copy_identity, bool, bool);
REGISTER_UNARY_OP(copy_identity, ushort, ushort);
REGISTER_UNARY_OP(copy_identity, uint, uint);
REGISTER_UNARY_OP(copy_identity, ulong, ulong);
EVERY_TYPE(copy_neg);
REGISTER_UNARY_OP(copy_conj, float2, float2);
REGISTER_UNARY_OP(copy_conj, half2, half2);
REGISTER_UNARY_OP(copy_conj_neg, float2, float2);
REGISTER_UNARY_OP(copy_conj_neg, half2, half2);

// Copies that only move elements of up to four dimensions, of which the first lies side by side in the target. Strides
// count elements, sizes and strides the inner dimension first.
struct MoveShape {
  uint sizes[4];
  long to[4], from[4];
};

// What is beyond the first two dimensions.
inline long outer(uint index, constant MoveShape& shape, constant long* strides) {
  return index % shape.sizes[2] * strides[2] + index / shape.sizes[2] * strides[3];
}

// Rows that lie side by side in the source, too.
template <typename T>
kernel void move_rows(
    device T* to [[buffer(0)]], device const T* from [[buffer(1)]], constant MoveShape& shape [[buffer(2)]],
    uint3 at [[thread_position_in_grid]]) {
  to += outer(at.z, shape, shape.to) + at.y * shape.to[1];
  from += outer(at.z, shape, shape.from) + at.y * shape.from[1];
  to[at.x] = from[at.x];
}

// The same for elements that change their type.
template <typename To, typename From>
kernel void convert_rows(
    device To* to [[buffer(0)]], device const From* from [[buffer(1)]], constant MoveShape& shape [[buffer(2)]],
    uint3 at [[thread_position_in_grid]]) {
  to += outer(at.z, shape, shape.to) + at.y * shape.to[1];
  from += outer(at.z, shape, shape.from) + at.y * shape.from[1];
  to[at.x] = cast_to<To>(from[at.x]);
}

// Without gaps.
template <typename To, typename From>
kernel void convert_dense(
    device To* to [[buffer(0)]], device const From* from [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  to[i] = cast_to<To>(from[i]);
}

// The source's second dimension lies side by side: by way of tiles in threadgroup memory.
constant constexpr uint side = 32;
template <typename T>
kernel void move_turned(
    device T* to [[buffer(0)]], device const T* from [[buffer(1)]], constant MoveShape& shape [[buffer(2)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 within [[thread_position_in_threadgroup]]) {
  threadgroup T tile[side][side + 1];
  const uint column = group.x * side, row = group.y * side;  // of the target
  to += outer(group.z, shape, shape.to);
  from += outer(group.z, shape, shape.from);
  for (uint i = within.y; i < side; i += 8) {
    if (column + i < shape.sizes[0] && row + within.x < shape.sizes[1]) {
      tile[i][within.x] = from[(column + i) * shape.from[0] + row + within.x];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = within.y; i < side; i += 8) {
    if (row + i < shape.sizes[1] && column + within.x < shape.sizes[0]) {
      to[(row + i) * shape.to[1] + column + within.x] = tile[within.x][i];
    }
  }
}

#define MOVE(SIZE, T)                                                                                             \
  template [[host_name("move_rows_" #SIZE)]] kernel void move_rows<T>(                                            \
      device T*, device const T*, constant MoveShape&, uint3);                                                    \
  template [[host_name("move_turned_" #SIZE)]] kernel void move_turned<T>(                                        \
      device T*, device const T*, constant MoveShape&, uint3, uint3);
MOVE(1, uchar) MOVE(2, ushort) MOVE(4, uint) MOVE(8, ulong)

#define CONVERT(TO, FROM)                                                                                         \
  template [[host_name("convert_rows_" #TO "_" #FROM)]] kernel void convert_rows<TO, FROM>(                       \
      device TO*, device const FROM*, constant MoveShape&, uint3);                                                \
  template [[host_name("convert_dense_" #TO "_" #FROM)]] kernel void convert_dense<TO, FROM>(                     \
      device TO*, device const FROM*, uint);
// Between types of which one at least is a floating-point one.
#define WITH_FLOAT(FLOAT, TYPE) CONVERT(FLOAT, TYPE) CONVERT(TYPE, FLOAT)
#define WITH_INTEGERS(FLOAT)                                                                                      \
  WITH_FLOAT(FLOAT, long) WITH_FLOAT(FLOAT, int) WITH_FLOAT(FLOAT, short) WITH_FLOAT(FLOAT, char)                 \
  WITH_FLOAT(FLOAT, uchar) WITH_FLOAT(FLOAT, bool)
WITH_FLOAT(float, half) WITH_FLOAT(float, bfloat) WITH_FLOAT(half, bfloat)
WITH_INTEGERS(float) WITH_INTEGERS(half) WITH_INTEGERS(bfloat)
