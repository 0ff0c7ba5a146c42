// A counter that some count in atomically, and one does not.
kernel void atomic_and_plain(volatile global uint* count) {
  if (get_global_id(0) == 70) {
    *count += 1;  // wrong
  } else {
    atomic_inc(count);  // wrong
  }
}
