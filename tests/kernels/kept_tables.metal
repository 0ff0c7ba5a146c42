// Constant tables whose addresses functions that stay calls get in members of structures, by parameters, or both; and
// indices that come out of tables.
#include <metal_stdlib>
using namespace metal;

#define NOINLINE __attribute__((noinline))

constant uint squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
constant uint primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
constant uint turned[8] = {7, 6, 5, 4, 3, 2, 1, 0};

struct Tables {
  uint sums[4];
  constant uint* table;
  uint count;
};

NOINLINE void add(thread Tables& tables, uint value) {
  tables.sums[value % 4] += tables.table[value & 7];
  ++tables.count;
}

NOINLINE uint look_up(constant uint* first, constant uint* second, uint i) { return first[second[i & 7]]; }

NOINLINE void hand_on(thread Tables& tables, uint i) {
  add(tables, i);
  add(tables, look_up(tables.table, turned, i));
}

// One table for all: in a member beside an array that a loop writes.
// RUN: --kernel same --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 6 38 20 28
kernel void same(device uint* out, uint i [[thread_position_in_grid]]) {
  Tables a = {{}, squares, 0};
  for (uint k = 0; k < 4; ++k) a.sums[k] = i / 2 * k;
  hand_on(a, i);
  Tables b = a;
  hand_on(b, i);
  out[i] = b.sums[0] + b.sums[1] + b.sums[2] + b.sums[3] + b.count;
}

// Each variable has one of its own, and a call comes with either.
// RUN: --kernel two --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 901 617 1805 1409
kernel void two(device uint* out, uint i [[thread_position_in_grid]]) {
  Tables a = {{}, squares, 0}, b = {{}, primes, 0};
  hand_on(a, i);
  hand_on(b, i);
  uint sum = 0;
  for (uint k = 0; k < 4; ++k) sum += a.sums[k] + 100 * b.sums[k];
  out[i] = sum;
}

NOINLINE void exchange(thread Tables& tables, constant uint* other) { tables.table = other; }

// A callee writes the member, for some threads.
// RUN: --kernel written --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 1 6 5 14
kernel void written(device uint* out, uint i [[thread_position_in_grid]]) {
  Tables a = {{}, squares, 0};
  if (i & 1) exchange(a, primes);
  hand_on(a, i);
  out[i] = a.sums[0] + a.sums[1] + a.sums[2] + a.sums[3];
}

// Bytes of another variable come into it.
// RUN: --kernel byte_by_byte --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 901 617 1805 1409
kernel void byte_by_byte(device uint* out, uint i [[thread_position_in_grid]]) {
  Tables a = {{}, squares, 0}, b = {{}, squares, 0}, c = {{}, primes, 0};
  thread uchar* to = (thread uchar*)&b;
  thread const uchar* from = (thread const uchar*)&c;
  for (uint k = 0; k < sizeof(Tables); ++k) to[k] = from[k];
  hand_on(a, i);
  hand_on(b, i);
  uint sum = 0;
  for (uint k = 0; k < 4; ++k) sum += a.sums[k] + 100 * b.sums[k];
  out[i] = sum;
}

struct Row {
  constant uint* tables[3];
  uint count;
};

NOINLINE uint of_row(thread const Row& row, uint i) { return row.tables[1][i & 7] + 100 * row.tables[2][i & 7]; }

// A loop writes the members, each of them.
// RUN: --kernel in_turns --threads 4 --group 4 --arg out=u32[4]=zeros --arg n=3
// EXPECT out: 702 603 505 407
kernel void in_turns(device uint* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  Row row = {{squares, squares, squares}, 0};
  for (uint k = 0; k < n; ++k) row.tables[k] = k & 1 ? primes : turned;
  out[i] = of_row(row, i);
}

NOINLINE uint deep(thread Tables& tables, uint i, uint depth) {
  if (depth == 0) return tables.table[i & 7];
  return deep(tables, i, depth - 1) + tables.table[depth & 7];
}

// Through calls of itself.
// RUN: --kernel recursive --threads 4 --group 4 --arg out=u32[4]=zeros
// EXPECT out: 2 6 13 22
kernel void recursive(device uint* out, uint i [[thread_position_in_grid]]) {
  Tables a = {{}, primes, 0};
  out[i] = deep(a, i, i);
}

constant uint few[5] = {10, 20, 30, 40, 50};

// An index out of a table that is too large for the other one.
// RUN: --kernel beyond --threads 8 --group 8 --arg out=u32[8]=zeros
// ERROR out_of_bounds: reads outside of constant 'few': element 7 of 5
kernel void beyond(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = few[turned[i]]; }

constant uint small[8] = {4, 0, 3, 1, 2, 2, 0, 4};

// One of which each fits.
// RUN: --kernel within --threads 8 --group 8 --arg out=u32[8]=zeros
// EXPECT out: 80 60 60 30 70 70 60 80
kernel void within(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = few[small[i] & 7] + few[small[small[i]]];
}
