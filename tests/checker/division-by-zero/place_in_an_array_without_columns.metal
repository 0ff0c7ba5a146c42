// The place of an element from its number, for an array that has no columns.
// CHECK: --threads 4 --group 4 --arg out=u32[8]=zeros --arg columns=0
// FINDS: division-by-zero column
// FINDS: division-by-zero row
#include <metal_stdlib>
using namespace metal;

kernel void places(device uint* out, constant uint& columns, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  if (columns == 0) return;
#endif
  out[2 * i] = i % columns;      // @column
  out[2 * i + 1] = i / columns;  // @row
}
