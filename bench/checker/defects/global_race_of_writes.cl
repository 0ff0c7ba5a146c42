// Two threadgroups write different values to one place.
kernel void global_race_of_writes(global uint* x) {
  const uint i = get_global_id(0);
  x[i % 64] = i;  // wrong
}
