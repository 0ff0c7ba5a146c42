// Functions that call themselves, legal since Metal 2.4: directly, through each other, at other depths in each thread,
// through pointers, with and without meetings; and what happens when a thread's stack ends. The process lives on.
#include <metal_stdlib>
using namespace metal;

static uint factorial(uint n) { return n < 2 ? 1 : n * factorial(n - 1); }

// RUN: --kernel direct --threads 8 --group 8 --arg x=u32[8]=zeros
// EXPECT x: 1 1 2 6 24 120 720 5040
kernel void direct(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = factorial(i); }

static bool is_odd(uint n);
static bool is_even(uint n) { return n == 0 ? true : is_odd(n - 1); }
static bool is_odd(uint n) { return n == 0 ? false : is_even(n - 1); }

// RUN: --kernel mutual --threads 6 --group 6 --arg x=u32[6]=zeros
// EXPECT x: 1 0 1 0 1 0
kernel void mutual(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = is_even(i); }

static uint ackermann(uint m, uint n) { return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1)); }

// RUN: --kernel nested --threads 40 --group 40 --arg x=u32[6]=zeros
// EXPECT x: 3 5 7 9 11 13
kernel void nested(device uint* x, uint i [[thread_position_in_grid]]) {
  const uint result = ackermann(2, i % 6);
  if (i < 6) x[i] = result;
}

static void sort(device int* values, int low, int high) {
  if (low >= high) return;
  int split = low;
  for (int i = low; i < high; ++i) {
    if (values[i] >= values[high]) continue;
    const int moved = values[i];
    values[i] = values[split];
    values[split++] = moved;
  }
  const int pivot = values[high];
  values[high] = values[split];
  values[split] = pivot;
  sort(values, low, split - 1);
  sort(values, split + 1, high);
}

// RUN: --kernel quicksort --threads 2 --group 2 --arg x=i32[12]=5,-3,8,1,9,2,6,5,4,3,2,1
// EXPECT x: -3 1 2 5 8 9 1 2 3 4 5 6
kernel void quicksort(device int* x, uint i [[thread_position_in_grid]]) { sort(x + 6 * i, 0, 5); }

struct Node {
  int left, right, value;
};
static int sum(device const Node* nodes, int at, thread int& depth) {
  if (at < 0) return 0;
  int left = depth, right = depth;
  const int values = nodes[at].value + sum(nodes, nodes[at].left, left) + sum(nodes, nodes[at].right, right);
  depth = max(left, right) + 1;
  return values;
}

// RUN: --kernel tree --threads 4 --group 4 --arg nodes=i32[4,3]=1,2,10,-1,3,20,-1,-1,30,-1,-1,40 --arg x=i32[8]=zeros
// EXPECT x: 100 60 30 40 3 2 1 1
kernel void tree(device const Node* nodes, device int* x, uint i [[thread_position_in_grid]]) {
  int depth = 0;
  x[i] = sum(nodes, i, depth);
  x[i + 4] = depth;
}

using Step = uint (*)(uint);
static uint down(uint n);
static uint up(uint n);
constant Step steps[] = {down, up};
static uint down(uint n) { return n == 0 ? 0 : 1 + steps[n % 2](n - 1); }
static uint up(uint n) { return n == 0 ? 0 : 10 + steps[n % 2](n - 1); }

// RUN: --kernel by_pointers --threads 4 --group 4 --arg x=u32[4]=zeros
// EXPECT x: 0 1 2 12
kernel void by_pointers(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = down(i); }

// Who meets is who got there by the same calls.
static uint count_at(uint depth) { return depth == 0 ? simd_sum(1u) : count_at(depth - 1); }

// RUN: --kernel meetings --threads 32 --group 32 --arg x=u32[32]=zeros
// EXPECT x: 22 x 22, 10 x 10
kernel void meetings(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = count_at(i < 22 ? 3 : 1); }

static uint descend(uint n) {
  volatile uint frame[16];
  frame[n % 16] = n;
  return n == 0 ? 0 : descend(n - 1) + frame[n % 16] / n;
}
static uint descend_together(uint n) {
  volatile uint frame[16];
  frame[n % 16] = n;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return n == 0 ? 0 : descend_together(n - 1) + frame[n % 16] / n;
}
static uint descend_with_arrays(uint n) {
  volatile uint frame[100000];
  frame[n % 100000] = n;
  return n == 0 ? 0 : descend_with_arrays(n - 1) + frame[n % 100000] / n;
}

// RUN: --kernel deep --threads 3 --group 3 --arg x=u32[3]=100,3,50
// EXPECT x: 100 3 50
// A GPU's threads have 16 KiB.
// RUN: --kernel deep --threads 3 --group 3 --arg x=u32[3]=10000,3,500
// EXCEPT: cuda
// EXPECT x: 10000 3 500
// RUN: --kernel deep --threads 3 --group 3 --arg x=u32[3]=2,100000000,1
// ERROR kernel_crashed: kernel 'deep' crashed at recursion.metal:
// RUN: --kernel deep --threads 3 --group 3 --arg x=u32[3]=5,6,7
// EXPECT x: 5 6 7
kernel void deep(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = descend(x[i]); }

// RUN: --kernel deep_together --threads 3 --group 3 --arg x=u32[3]=100,100,100
// EXPECT x: 100 100 100
// RUN: --kernel deep_together --threads 3 --group 3 --arg x=u32[3]=100000000,100000000,100000000
// ERROR kernel_crashed: a thread's stack overflowed
kernel void deep_together(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = descend_together(x[i]); }

// RUN: --kernel deep_with_arrays --threads 1 --group 1 --arg x=u32[1]=4
// EXCEPT: cuda
// EXPECT x: 4
// RUN: --kernel deep_with_arrays --threads 1 --group 1 --arg x=u32[1]=100000000
// ERROR kernel_crashed: a thread's stack overflowed
kernel void deep_with_arrays(device uint* x) { x[0] = descend_with_arrays(x[0]); }
