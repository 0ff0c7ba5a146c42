// REGISTER_FLOAT_BINARY_OP(name) and its kin: an operator's kernels for all types of one family at once, on top of
// <c10/metal/indexing.h>. PyTorch's own kernel files define such macros themselves (BinaryKernel.metal), so a file that
// defines one keeps its own. Metalloid's own.
#ifndef METALLOID_REGISTRATION_H
#define METALLOID_REGISTRATION_H

#include <c10/metal/indexing.h>

// MACRO(NAME, in, out) for every type of a family. The last one has no semicolon: the user writes it.
#define METALLOID_REGISTER_FLOATS(MACRO, NAME) \
  MACRO(NAME, float, float);                   \
  MACRO(NAME, half, half);                     \
  MACRO(NAME, bfloat, bfloat)
#define METALLOID_REGISTER_INTEGERS(MACRO, NAME) \
  MACRO(NAME, long, long);                       \
  MACRO(NAME, int, int);                         \
  MACRO(NAME, short, short);                     \
  MACRO(NAME, uchar, uchar);                     \
  MACRO(NAME, char, char);                       \
  MACRO(NAME, bool, bool)
#define METALLOID_REGISTER_INTEGERS_TO_FLOAT(MACRO, NAME) \
  MACRO(NAME, long, float);                               \
  MACRO(NAME, int, float);                                \
  MACRO(NAME, short, float);                              \
  MACRO(NAME, uchar, float);                              \
  MACRO(NAME, char, float);                               \
  MACRO(NAME, bool, float)

#ifndef REGISTER_FLOAT_BINARY_OP
#define REGISTER_FLOAT_BINARY_OP(NAME) METALLOID_REGISTER_FLOATS(REGISTER_BINARY_OP, NAME)
#endif
#ifndef REGISTER_INTEGER_BINARY_OP
#define REGISTER_INTEGER_BINARY_OP(NAME) METALLOID_REGISTER_INTEGERS(REGISTER_BINARY_OP, NAME)
#endif
#ifndef REGISTER_INT2FLOAT_BINARY_OP
#define REGISTER_INT2FLOAT_BINARY_OP(NAME) METALLOID_REGISTER_INTEGERS_TO_FLOAT(REGISTER_BINARY_OP, NAME)
#endif
// The functor gets half and bfloat as float.
#ifndef REGISTER_OPMATH_FLOAT_BINARY_OP
#define REGISTER_OPMATH_FLOAT_BINARY_OP(NAME) METALLOID_REGISTER_FLOATS(REGISTER_OPMATH_BINARY_OP, NAME)
#endif

#ifndef REGISTER_FLOAT_UNARY_OP
#define REGISTER_FLOAT_UNARY_OP(NAME) METALLOID_REGISTER_FLOATS(REGISTER_UNARY_OP, NAME)
#endif
#ifndef REGISTER_INTEGER_UNARY_OP
#define REGISTER_INTEGER_UNARY_OP(NAME) METALLOID_REGISTER_INTEGERS(REGISTER_UNARY_OP, NAME)
#endif
#ifndef REGISTER_INT2FLOAT_UNARY_OP
#define REGISTER_INT2FLOAT_UNARY_OP(NAME) METALLOID_REGISTER_INTEGERS_TO_FLOAT(REGISTER_UNARY_OP, NAME)
#endif

#endif
