#define L1 else if (x[0] == __COUNTER__) x[1] = __COUNTER__;
#define L2 L1 L1 L1 L1 L1 L1 L1 L1
#define L3 L2 L2 L2 L2 L2 L2 L2 L2
kernel void f(device int* x) { if (x[0] == -1) x[1] = -1; L3 }
