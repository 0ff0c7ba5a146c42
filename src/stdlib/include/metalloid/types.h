// Scalar types (MSL spec §2.1), known without any namespace.
#ifndef METALLOID_TYPES_H
#define METALLOID_TYPES_H

#include <metalloid/config.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

typedef ulong size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef ulong uintptr_t;

#ifndef NULL
#define NULL nullptr
#endif

namespace metal {
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;

using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uintptr_t;
using nullptr_t = decltype(nullptr);
}  // namespace metal

#endif
