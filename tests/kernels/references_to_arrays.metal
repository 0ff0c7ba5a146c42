// References and pointers to arrays in every space of memory, in the spellings that sources use.
#include <metal_stdlib>
using namespace metal;

static void swap_rows(device uint* (&rows)[2]) {
  device uint* first = rows[0];
  rows[0] = rows[1];
  rows[1] = first;
}
static uint sum_rows(device uint* const (&rows)[2], uint n) {
  uint sum = 0;
  for (uint i = 0; i < n; ++i) sum = sum * 10 + rows[0][i] + rows[1][i] * 2;
  return sum;
}
static uint first_of(const device uint* thread (*rows)[2]) { return (*rows)[0][0]; }

// RUN: --kernel arrays_of_pointers --threads 1 --group 1 --arg a=u32[2]=1,2 --arg b=u32[2]=3,4 --arg out=u32[3]=zeros
// EXPECT out: 3 58 1
kernel void arrays_of_pointers(device uint* a, device uint* b, device uint* out) {
  device uint* rows[2] = {a, b};
  swap_rows(rows);
  out[0] = rows[0][0];
  out[1] = sum_rows(rows, 2);
  const device uint* others[2] = {a, b};
  out[2] = first_of(&others);
}

template <int N, int M>
static float sum_tile(threadgroup float (&tile)[N][M]) {
  float sum = 0;
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < M; ++k) sum += tile[i][k];
  }
  return sum;
}
static float corner(threadgroup const float (*tile)[4]) { return tile[1][3]; }
static void put(float value, threadgroup float (&row)[4], ushort at) { row[at] = value; }
using Tile = float[2][4];
static float last(threadgroup Tile& tile) { return tile[1][3]; }
static float last_by_pointer(const threadgroup Tile* tile) { return (*tile)[0][3]; }

// RUN: --kernel tiles --threads 1 --group 1 --arg out=f32[5]=zeros
// EXPECT out: 28 7 40 40 3
kernel void tiles(device float* out) {
  threadgroup float tile[2][4];
  for (int i = 0; i < 8; ++i) tile[i / 4][i % 4] = i;
  out[0] = sum_tile(tile);
  out[1] = corner(tile);
  put(40, tile[1], 3);
  out[2] = tile[1][3];
  out[3] = last(tile);
  out[4] = last_by_pointer(&tile);
}

struct Rows {
  int values[2][3];
};
static int sum_device(device int (&row)[3]) { return row[0] + row[1] + row[2]; }
static int sum_constant(constant int (&row)[3]) { return row[0] + row[1] + row[2]; }
static int sum_thread(thread int (&row)[3]) { return row[0] + row[1] + row[2]; }
static int sum_const(const thread int (&row)[3], device const int (&other)[3]) { return row[0] + other[2]; }
static void scale(device int (*rows)[3], int by) {
  for (int i = 0; i < 3; ++i) rows[1][i] *= by;
}
constant int table[2][3] = {{1, 2, 3}, {4, 5, 6}};

// RUN: --kernel spaces --threads 1 --group 1 --arg x=i32[6]=1,2,3,4,5,6 --arg c=i32[6]=10,20,30,40,50,60 --arg out=i32[6]=zeros
// EXPECT out: 6 150 15 9 10 13
// EXPECT x: 1 2 3 8 10 12
kernel void spaces(device Rows& x, constant Rows& c, device int* out) {
  out[0] = sum_device(x.values[0]);
  out[1] = sum_constant(c.values[1]);
  out[2] = sum_constant(table[1]);
  int mine[3] = {2, 3, 4};
  out[3] = sum_thread(mine);
  scale(x.values, 2);
  out[4] = x.values[1][1];
  device auto& row = x.values[1];
  out[5] = sum_const(mine, row) - 1;
}

// Of vectors of structs and of pointers to pointers, with the reference's name before the space's.
template <typename T>
static T pick(T (&values)[2], bool second) {
  return values[second];
}
static uint through(device uint* thread (&rows)[2][1]) { return rows[1][0][1]; }

// RUN: --kernel more --threads 1 --group 1 --arg a=u32[2]=5,6 --arg out=u32[2]=zeros
// EXPECT out: 6 6
kernel void more(device uint* a, device uint* out) {
  device uint* rows[2][1] = {{out}, {a}};
  out[0] = through(rows);
  device uint* flat[2] = {out, a};
  out[1] = pick(flat, true)[1];
}
