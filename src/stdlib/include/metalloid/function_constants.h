// is_function_constant_defined(c) (MSL spec §5.8.1): whether the pipeline gave function constant c a value.
#ifndef METALLOID_FUNCTION_CONSTANTS_H
#define METALLOID_FUNCTION_CONSTANTS_H

bool __metalloid_function_constant_defined(const constant void*) __asm("metalloid.function_constant.defined");
#define is_function_constant_defined(name) __metalloid_function_constant_defined(&(name))

// What `[[function_constant(expression)]]` of an argument becomes (kernel_arguments.cpp reads it): the address of the
// constant that decides whether the argument exists, or the decision itself.
template <typename T>
constexpr const constant T* __metalloid_gate(const constant T& value) {
  return &value;
}
template <typename T>
constexpr T __metalloid_gate(const thread T& value) {
  return value;
}

#endif
