// Completes the vector types that kernels use most, so that the precompiled library holds them ready.
#ifndef METALLOID_INSTANTIATIONS_H
#define METALLOID_INSTANTIATIONS_H

#include <metalloid/type_names.h>

#define METALLOID_COMPLETE(T) static_assert(sizeof(T##2) <= sizeof(T##3) && sizeof(T##3) <= sizeof(T##4), "");
METALLOID_COMPLETE(bool)
METALLOID_COMPLETE(char)
METALLOID_COMPLETE(uchar)
METALLOID_COMPLETE(short)
METALLOID_COMPLETE(ushort)
METALLOID_COMPLETE(int)
METALLOID_COMPLETE(uint)
METALLOID_COMPLETE(long)
METALLOID_COMPLETE(ulong)
METALLOID_COMPLETE(half)
METALLOID_COMPLETE(bfloat)
METALLOID_COMPLETE(float)
METALLOID_COMPLETE(packed_float)
#undef METALLOID_COMPLETE

#endif
