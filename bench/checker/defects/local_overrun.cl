// The last thread reads behind an array in threadgroup memory.
kernel void local_overrun(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[i + 1];  // wrong
}
