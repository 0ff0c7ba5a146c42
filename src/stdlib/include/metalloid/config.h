// Macros that every header of the standard library uses.
#ifndef METALLOID_CONFIG_H
#define METALLOID_CONFIG_H

// Library functions always vanish into their caller. Without debug information of their own, their instructions
// take the caller's source line: reports then name the user's code.
#define METALLOID_FUNC inline __attribute__((always_inline, nodebug))

#ifndef METAL_FUNC
#define METAL_FUNC inline __attribute__((always_inline))
#endif

// A member whose result (a reference or a pointer) lies in the address space of the object that it is called on.
#define METALLOID_OWN_SPACE __attribute__((annotate("metalloid.own_space")))

// A class that Metal has and Metalloid does not, and what it belongs to. Its members have no definition: kernels that
// take one as an argument, or call a member, are refused when somebody wants to run them, and the others of their
// library run.
#define METALLOID_UNSUPPORTED(what) __attribute__((annotate("metalloid.unsupported", what)))

// A function that defines an operation which engines may have something better for, by the operation's name and, where
// it has a scope, the number of simdgroups (0: a thread). Its parameters are the operation's (src/ir/operations.def).
#define METALLOID_WHOLE_OPERATION(...) __attribute__((annotate("metalloid.operation." __VA_ARGS__)))

// True while the compiler evaluates a constant expression; run-time code may then use vector operations that
// constant expressions lack.
#define METALLOID_CONSTANT_EVALUATED __builtin_is_constant_evaluated()

#endif
