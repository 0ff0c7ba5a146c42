#define P(x) ((((((((x))))))))
#define Q(x) P(P(P(P(P(P(P(P(x))))))))
#define B { { { { { { { {
#define C B B B B B B B B
kernel void f(device int* x) { x[0] = Q(Q(Q(Q(1)))); C C C C C }
