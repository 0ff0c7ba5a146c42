kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void transpose(global float* out, global const float* in, uint size) {
  local float tile[16][17];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint group_x = get_group_id(0), group_y = get_group_id(1);
  tile[y][x] = in[(group_y * 16 + y) * size + group_x * 16 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(group_x * 16 + y) * size + group_y * 16 + x] = tile[x][y];
}
