constexpr int spin(int n) { int x = 0; for (int i = 0; i < n; ++i) x ^= i; return x; }
constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
template <int N> struct S { static constexpr int value = spin(20000 + N) + S<N - 1>::value; };
template <> struct S<0> { static constexpr int value = 0; };
static_assert(S<20>::value != 1 && fibonacci(18) > 0, "");
constexpr int endless() { for (;;) {} return 1; }
constant int e = endless();
kernel void f(device int* x) { x[0] = S<20>::value; }
