// Arrays that a program cuts out of one buffer: what a kernel reads and what it writes are the same memory as far as
// anybody can tell, and here the first product is what the second one reads.
#include "running.h"

static const char source[] =
    "#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n"
    "kernel void product(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],\n"
    "                    device half* c [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],\n"
    "                    uint i [[thread_index_in_threadgroup]], uint2 size [[threads_per_threadgroup]]) {\n"
    "  threadgroup half rows[8 * 64], columns[64 * 8];\n"
    "  for (uint k = i; k < 512; k += size.x) rows[k] = a[group.y * 512 + k];\n"
    "  for (uint k = i; k < 512; k += size.x) columns[k] = b[k / 8 * 64 + group.x * 8 + k % 8];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  simdgroup_half8x8 sum(0.0h), x, y;\n"
    "  for (uint k = 0; k < 8; ++k) {\n"
    "    simdgroup_load(x, rows + 8 * k, 64);\n"
    "    simdgroup_load(y, columns + 64 * k, 8);\n"
    "    simdgroup_multiply_accumulate(sum, x, y, sum);\n"
    "  }\n"
    "  simdgroup_store(sum, c + group.y * 512 + group.x * 8, 64);\n"
    "}";

enum { N = 64, BYTES = N * N * sizeof(__fp16) };

static void run(void) {
  const Program program = program_of(source, "product");
  id<MTLBuffer> all = [program.device newBufferWithLength:4 * BYTES options:MTLResourceStorageModeShared];
  __fp16* const a = all.contents;
  __fp16* const b = a + N * N;
  for (int k = 0; k < N * N; ++k) {
    a[k] = k * 7 % 5 - 2;
    b[k] = k * 11 % 3 - 1;
  }
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [program.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:program.state];
    for (int turn = 0; turn < 2; ++turn) {  // c = a b, then d = c b
      [encoder setBuffer:all offset:turn == 0 ? 0 : 2 * BYTES atIndex:0];
      [encoder setBuffer:all offset:BYTES atIndex:1];
      [encoder setBuffer:all offset:(2 + turn) * BYTES atIndex:2];
      [encoder dispatchThreadgroups:MTLSizeMake(8, 8, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    }
    [encoder endEncoding];
    complete(commands);
  }
  for (int turn = 0; turn < 2; ++turn) {
    const __fp16* const left = a + turn * 2 * N * N;
    const __fp16* const got = a + (2 + turn) * N * N;
    for (int row = 0; row < N; ++row) {
      for (int column = 0; column < N; ++column) {
        float sum = 0;  // all integers that half has
        for (int k = 0; k < N; ++k) sum += (float)left[row * N + k] * (float)b[k * N + column];
        CHECK(sum == (float)got[row * N + column]);
      }
    }
  }
  [all release];
  let_go_of(program);
}

int main(void) {
  @autoreleasepool {
    run();
  }
  puts("one buffer");
  return 0;
}
