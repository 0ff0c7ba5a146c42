// The best candidate's index is set where a better one is found, and read also where there was none.
// CHECK: --threads 4 --group 4 --arg x=f16[4,4]=-1,-2,3,-4,-1,-1,-1,-1,5,6,7,8,0,1,0,1 --arg out=i32[4]=zeros
// FINDS: uninitialised index
#include <metal_stdlib>
using namespace metal;

kernel void argmax_of_positive(device const half* x, device int* out, uint row [[thread_position_in_grid]]) {
#ifdef REPAIRED
  int index = -1;
#else
  int index;
#endif
  half best = 0;
  for (int k = 0; k < 4; ++k) {
    if (x[row * 4 + k] > best) {
      best = x[row * 4 + k];
      index = k;
    }
  }
  out[row] = index;  // @index
}
