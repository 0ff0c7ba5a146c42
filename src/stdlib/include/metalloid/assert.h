// assert: its argument must make a condition and is not evaluated, as in a release build.
#ifndef METALLOID_ASSERT_H
#define METALLOID_ASSERT_H

#ifndef assert
#define assert(...) static_cast<void>(sizeof(bool(__VA_ARGS__)))
#endif

#endif
