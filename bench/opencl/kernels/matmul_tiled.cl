kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul_tiled(global float* c, global const float* a, global const float* b, uint size) {
  local float a_tile[16][16];
  local float b_tile[16][16];
  const uint column = get_global_id(0), row = get_global_id(1);
  const uint x = get_local_id(0), y = get_local_id(1);
  float sum = 0;
  for (uint start = 0; start < size; start += 16) {
    a_tile[y][x] = a[row * size + start + x];
    b_tile[y][x] = b[(start + y) * size + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; ++k) sum += a_tile[y][k] * b_tile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * size + column] = sum;
}
