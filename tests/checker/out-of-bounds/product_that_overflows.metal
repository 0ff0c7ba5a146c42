// An index computed in 32 bits: 65536 rows of 65536 columns are no rows at all, and here a negative number.
// CHECK: --threads 2 --group 2 --arg rows=i32[2]=1,46341 --arg x=u8[1000]=arange --arg out=u8[2]=zeros
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

kernel void first_of_row(device const int* rows, device const uchar* x, device uchar* out,
                         uint i [[thread_position_in_grid]]) {
  const int columns = 46341;
#ifdef REPAIRED
  const long at = long(rows[i]) * columns;
  out[i] = at < 1000 ? x[at] : 0;
#else
  const int at = int(uint(rows[i]) * uint(columns));
  out[i] = at < 1000 ? x[at] : 0;  // @read
#endif
}
