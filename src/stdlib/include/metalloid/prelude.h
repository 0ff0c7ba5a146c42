// Everything that a Metal source sees before its first line.
#ifndef METALLOID_PRELUDE_H
#define METALLOID_PRELUDE_H

#include <metalloid/instantiations.h>
#include <metal_stdlib>

#endif
