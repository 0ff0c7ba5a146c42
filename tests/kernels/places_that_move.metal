// What is known of the lanes' places at first, and less in later turns of a loop.
#include <metal_stdlib>
using namespace metal;

kernel void walk(device const int* steps [[buffer(0)]], device int* sums [[buffer(1)]], constant int& turns [[buffer(2)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  int place = int(lane % 4) * 5, sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    sum += steps[place];
    place = place * int(lane % 4 + turn) % 16;
  }
  sums[lane] = sum;
}
// RUN: --kernel walk --threads 8 --group 8 --arg steps=i32[16]=3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3 --arg sums=i32[8]=zeros --arg turns=4
// EXPECT sums: 12 32 22 20 12 32 22 20
