constant bool always = true;
constant bool never [[function_constant(3)]];
constant bool both = always && never;
kernel void f(device int* a [[buffer(0), function_constant(always)]], device int* b [[buffer(1), function_constant(never)]],
              device int* c [[buffer(1), function_constant(both)]]) { a[0] = 1; if (never) b[0] = 2; }
struct D { template <typename T> operator T() && { return T {}; } };
kernel void g(device metal::float4* o, uint i [[thread_position_in_grid]]) { o[i] = i < 3 ? o[i] : D(); }
