// Grouped attention: the number of query heads per key head is computed with the two exchanged, gives zero, and divides
// the head.
// CHECK: --threads 8 --group 8 --arg out=u32[8]=zeros --arg p={8,2}
// FINDS: division-by-zero head
#include <metal_stdlib>
using namespace metal;

struct Heads {
  ushort queries, keys;
};

kernel void key_head(device uint* out, constant Heads& p, uint head [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const ushort group = p.queries / p.keys;
#else
  const ushort group = p.keys / p.queries;
#endif
  out[head] = ushort(head) / group;  // @head
}
