// A function sets its out-parameter only where it finds something, and the caller reads it anyway.
// CHECK: --threads 4 --group 4 --arg x=i32[4]=1,-1,2,-2 --arg out=i32[4]=zeros
// FINDS: uninitialised use
#include <metal_stdlib>
using namespace metal;

static void root_of(int x, thread int& root) {
#ifdef REPAIRED
  root = 0;
#endif
  if (x >= 0) root = x * x;
}

kernel void roots(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  int root;
  root_of(x[i], root);
  out[i] = root;  // @use
}
