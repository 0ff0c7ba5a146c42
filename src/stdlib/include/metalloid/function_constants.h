// is_function_constant_defined(c) (MSL spec §5.8.1): whether the pipeline gave function constant c a value.
#ifndef METALLOID_FUNCTION_CONSTANTS_H
#define METALLOID_FUNCTION_CONSTANTS_H

bool __metalloid_function_constant_defined(const constant void*) __asm("metalloid.function_constant.defined");
#define is_function_constant_defined(name) __metalloid_function_constant_defined(&(name))

#endif
