// A flag that is raised atomically orders nothing that was written before it.
kernel void flag_without_order(global uint* data, volatile global uint* flag, global uint* out) {
  const uint i = get_global_id(0);
  if (i == 0) {
    data[0] = 7;  // wrong
    atomic_xchg(flag, 1);
  } else if (i == 64 && atomic_or(flag, 0) == 1) {
    out[0] = data[0];  // wrong
  }
}
