// Rows by a count that is zero: of two results one is used, to choose; the other one is used by nobody.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=ones --arg rows=0
// FINDS: division-by-zero first
#include <metal_stdlib>
using namespace metal;

kernel void first_rows(device float* x, constant uint& rows, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const uint count = max(rows, 1u);
#else
  const uint count = rows;
#endif
  const uint row = i % count;  // @first
  const uint column = i / count;
  uint unused = column * 4;
  unused += row;
  if (row == 0) x[i] = 0;
}
