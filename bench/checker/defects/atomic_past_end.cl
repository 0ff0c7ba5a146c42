// Counts in a bin that an argument does not have.
kernel void atomic_past_end(volatile global uint* bins) {
  atomic_inc(&bins[get_global_id(0) % 17]);  // wrong
}
