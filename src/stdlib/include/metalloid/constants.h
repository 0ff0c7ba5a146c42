// Numeric macros of MSL (spec §6.5) and of C's <float.h> and <limits.h>.
#ifndef METALLOID_CONSTANTS_H
#define METALLOID_CONSTANTS_H

#include <metalloid/bfloat.h>

#define MAXFLOAT 0x1.fffffep127f
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXHALF ((half)0x1.ffcp15f)
#define HUGE_VALH ((half)__builtin_inff())
#define MAXBFLOAT (bfloat(0x1.fep127f))
#define HUGE_VALBF (bfloat(__builtin_inff()))

#define M_E_F 2.71828182845904523536028747135266250f
#define M_LOG2E_F 1.44269504088896340735992468100189214f
#define M_LOG10E_F 0.434294481903251827651128918916605082f
#define M_LN2_F 0.693147180559945309417232121458176568f
#define M_LN10_F 2.30258509299404568401799145468436421f
#define M_PI_F 3.14159265358979323846264338327950288f
#define M_PI_2_F 1.57079632679489661923132169163975144f
#define M_PI_4_F 0.785398163397448309615660845819875721f
#define M_1_PI_F 0.318309886183790671537767526745028724f
#define M_2_PI_F 0.636619772367581343075535053490057448f
#define M_2_SQRTPI_F 1.12837916709551257389615890312154517f
#define M_SQRT2_F 1.41421356237309504880168872420969808f
#define M_SQRT1_2_F 0.707106781186547524400844362104849039f

#define M_E_H ((half)M_E_F)
#define M_LOG2E_H ((half)M_LOG2E_F)
#define M_LOG10E_H ((half)M_LOG10E_F)
#define M_LN2_H ((half)M_LN2_F)
#define M_LN10_H ((half)M_LN10_F)
#define M_PI_H ((half)M_PI_F)
#define M_PI_2_H ((half)M_PI_2_F)
#define M_PI_4_H ((half)M_PI_4_F)
#define M_1_PI_H ((half)M_1_PI_F)
#define M_2_PI_H ((half)M_2_PI_F)
#define M_2_SQRTPI_H ((half)M_2_SQRTPI_F)
#define M_SQRT2_H ((half)M_SQRT2_F)
#define M_SQRT1_2_H ((half)M_SQRT1_2_F)

#define M_E_BF (bfloat(M_E_F))
#define M_LOG2E_BF (bfloat(M_LOG2E_F))
#define M_LOG10E_BF (bfloat(M_LOG10E_F))
#define M_LN2_BF (bfloat(M_LN2_F))
#define M_LN10_BF (bfloat(M_LN10_F))
#define M_PI_BF (bfloat(M_PI_F))
#define M_PI_2_BF (bfloat(M_PI_2_F))
#define M_PI_4_BF (bfloat(M_PI_4_F))
#define M_1_PI_BF (bfloat(M_1_PI_F))
#define M_2_PI_BF (bfloat(M_2_PI_F))
#define M_2_SQRTPI_BF (bfloat(M_2_SQRTPI_F))
#define M_SQRT2_BF (bfloat(M_SQRT2_F))
#define M_SQRT1_2_BF (bfloat(M_SQRT1_2_F))

#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define FLT_MAX_10_EXP 38
#define FLT_MIN_10_EXP (-37)

#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define HALF_MAX ((half)0x1.ffcp15f)
#define HALF_MIN ((half)0x1p-14f)
#define HALF_EPSILON ((half)0x1p-10f)
#define HALF_MAX_EXP 16
#define HALF_MIN_EXP (-13)
#define HALF_MAX_10_EXP 4
#define HALF_MIN_10_EXP (-4)
#define HALF_RADIX 2

#define BFLT_DIG 2
#define BFLT_MANT_DIG 8
#define BFLT_MAX (bfloat(0x1.fep127f))
#define BFLT_MIN (bfloat(0x1p-126f))
#define BFLT_EPSILON (bfloat(0x1p-7f))

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1l)
#define ULONG_MAX 18446744073709551615ul

#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define PTRDIFF_MAX LONG_MAX
#define PTRDIFF_MIN LONG_MIN

#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MIN

#endif
