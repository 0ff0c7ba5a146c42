// How the reference engine runs threads: grids, simdgroups, divergence, barriers, crashes, timeouts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReferenceEngine : public ::testing::Test {
 protected:
  // Compiles `body` as the kernel "test" behind the usual first lines.
  static Kernel compile(const std::string& text) {
    return Device::named("reference")
        .make_library("#include <metal_stdlib>\nusing namespace metal;\n" + text)
        .kernel("test");
  }

  // Runs with `out` at index 0 and returns what it holds then.
  static std::vector<std::uint32_t> run_threads(const Kernel& kernel, std::size_t count, Size grid, Size group,
                                                std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    Buffer out(count * sizeof(std::uint32_t));
    run(kernel, Dispatch().buffer(0, out).threads(grid, group).timeout(timeout));
    auto values = out.as<std::uint32_t>();
    return {values.begin(), values.end()};
  }

  static std::string error_of(ErrorCode code, const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(name_of(error.code()), name_of(code)) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }
};

TEST_F(ReferenceEngine, CutsEdgeThreadgroups) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]],
                 uint3 size [[threads_per_threadgroup]], uint3 nominal [[dispatch_threads_per_threadgroup]],
                 uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                 uint3 local [[thread_position_in_threadgroup]], uint index [[thread_index_in_threadgroup]]) {
  uint i = (p.z * n.y + p.y) * n.x + p.x;
  bool right = all(p == group * nominal + local) && index == (local.z * size.y + local.y) * size.x + local.x &&
               all(groups == uint3(3, 2, 2)) && all(nominal == uint3(4, 3, 2));
  out[i] += right ? size.x * 100 + size.y * 10 + size.z : 1;
})");
  auto out = run_threads(kernel, 9 * 5 * 3, {9, 5, 3}, {4, 3, 2});
  for (unsigned z = 0; z < 3; ++z) {
    for (unsigned y = 0; y < 5; ++y) {
      for (unsigned x = 0; x < 9; ++x) {
        unsigned expected = (x < 8 ? 400 : 100) + (y < 3 ? 30 : 20) + (z < 2 ? 2 : 1);
        ASSERT_EQ(out[(z * 5 + y) * 9 + x], expected) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(ReferenceEngine, NumbersSimdgroupsByActualSize) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]], uint count [[simdgroups_per_threadgroup]],
                 uint nominal [[dispatch_simdgroups_per_threadgroup]], uint quad [[quadgroup_index_in_threadgroup]],
                 uint in_quad [[thread_index_in_quadgroup]], uint width [[threads_per_simdgroup]]) {
  uint active = popcount(uint((simd_vote::vote_t)simd_active_threads_mask()));
  out[i] = active + 100 * simdgroup + 1000 * count + 10000 * nominal;
  if (quad != (i % 70) / 4 || in_quad != i % 70 % 4 || width != 32 || lane != i % 70 % 32) out[i] = 0;
})");
  auto out = run_threads(kernel, 110, {110}, {70});
  EXPECT_EQ(out[0], 33032u);
  EXPECT_EQ(out[40], 33132u);
  EXPECT_EQ(out[69], 33206u) << "a partial last simdgroup";
  EXPECT_EQ(out[70], 32032u) << "the cut threadgroup has two simdgroups";
  EXPECT_EQ(out[109], 32108u);
}

// Metal wants positions and sizes of one kernel to be alike: all scalars, or all vectors of one length.
TEST_F(ReferenceEngine, BuiltinsComeInEveryWidth) {
  Kernel pairs = compile(R"(
kernel void test(device uint* out, ushort2 p [[thread_position_in_grid]], ushort2 n [[threads_per_grid]],
                 uint2 size [[threads_per_threadgroup]], ushort2 group [[threadgroup_position_in_grid]],
                 ushort lane [[thread_index_in_simdgroup]], ushort index [[thread_index_in_threadgroup]]) {
  out[p.y * n.x + p.x] = size.x * size.y * 10000 + group.x * 100 + group.y * 1000 + (lane == index ? lane : 99);
})");
  auto out = run_threads(pairs, 32, {8, 4}, {4, 4});
  EXPECT_EQ(out[0], 160000u);
  EXPECT_EQ(out[31], 160000u + 100 + 15);
  Kernel scalars = compile(R"(
kernel void test(device uint* out, ushort p [[thread_position_in_grid]], uint n [[threads_per_grid]],
                 ushort size [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  out[p] = n * 10000 + size * 100 + group;
})");
  EXPECT_EQ(run_threads(scalars, 12, {12}, {4})[11], 120402u);
}

TEST_F(ReferenceEngine, ActiveLanesAreThoseThatTakeTheBranch) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum;
  if (i % 3 == 0) sum = simd_sum(i);
  else if (i % 3 == 1) sum = 1000 + simd_sum(1u);
  else { sum = 2000; }
  out[i] = sum + 10000 * popcount(uint((simd_vote::vote_t)simd_active_threads_mask()));
})");
  auto out = run_threads(kernel, 32, {32}, {32});
  EXPECT_EQ(out[0], 0u + 3 + 6 + 9 + 12 + 15 + 18 + 21 + 24 + 27 + 30 + 320000);
  EXPECT_EQ(out[1], 1000u + 11 + 320000);
  EXPECT_EQ(out[2], 2000u + 320000) << "all meet again behind the branch";
}

TEST_F(ReferenceEngine, LanesThatLeaveALoopEarlyWaitBehindIt) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint total = 0;
  for (uint k = 0; k <= i; ++k) {
    if (k % 2 == 1) { if (i == k) break; }
    total += simd_sum(1u);
  }
  out[i] = total + 1000 * simd_sum(1u);
})");
  auto out = run_threads(kernel, 32, {32}, {32});
  for (unsigned i = 0; i < 32; ++i) {
    unsigned total = 0;
    for (unsigned k = 0; k <= i; ++k) {
      if (k % 2 == 1 && i == k) break;
      unsigned active = 0;
      for (unsigned lane = k; lane < 32; ++lane) active += !(k % 2 == 1 && lane == k);
      total += active;
    }
    EXPECT_EQ(out[i], total + 32000) << i;
  }
}

TEST_F(ReferenceEngine, ReturnedLanesAreLeftOut) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i >= 20) return;
  out[i] = simd_sum(1u);
  if (i % 2) return;
  out[i] += 100 * simd_sum(1u);
})");
  auto out = run_threads(kernel, 32, {32}, {32});
  EXPECT_EQ(out[0], 1020u);
  EXPECT_EQ(out[1], 20u);
  EXPECT_EQ(out[20], 0u);
}

TEST_F(ReferenceEngine, NestedLoopsAndSwitchesReconverge) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint seen = 0;
  for (uint a = 0; a < 3; ++a) {
    uint inner = 0;
    while (true) {
      if (inner > (i + a) % 4) break;
      switch (i % 3) {
        case 0: inner += 1; break;
        case 1: inner += 2; seen += simd_sum(1u); break;
        default: inner += 3; continue;
      }
    }
    seen += 10000 * simd_sum(1u);
  }
  out[i] = seen / 10000;
})");
  EXPECT_THAT(run_threads(kernel, 32, {32}, {32}), Each(96u));
}

TEST_F(ReferenceEngine, BarriersMakeWritesVisible) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]],
                 uint g [[thread_position_in_grid]]) {
  threadgroup uint values[1024];
  values[i] = i;
  for (uint step = 1; step < n; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint other = i >= step ? values[i - step] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    values[i] += other;
  }
  out[g] = values[i];
})");
  auto out = run_threads(kernel, 5000, {5000}, {1000});
  for (unsigned g = 0; g < 5000; ++g) ASSERT_EQ(out[g], g % 1000 * (g % 1000 + 1) / 2) << g;
  out = run_threads(kernel, 1024, {1024}, {1024});
  EXPECT_EQ(out[1023], 1023u * 1024 / 2);
}

TEST_F(ReferenceEngine, ThreadsThatEndDoNotHoldUpBarriers) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint count;
  if (i == 0) atomic_store_explicit(&count, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i >= 50) return;
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&count, memory_order_relaxed);
})");
  auto out = run_threads(kernel, 128, {128}, {128});
  EXPECT_EQ(out[0], 50u);
  EXPECT_EQ(out[49], 50u);
  EXPECT_EQ(out[50], 0u);
}

TEST_F(ReferenceEngine, SimdgroupBarriersOrderLanes) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint values[64];
  values[i] = i;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = values[i ^ 31];
})");
  auto out = run_threads(kernel, 64, {64}, {64});
  EXPECT_EQ(out[0], 31u);
  EXPECT_EQ(out[63], 32u);
}

TEST_F(ReferenceEngine, DynamicThreadgroupMemoryFollowsStatic) {
  Kernel kernel = compile(R"(
struct Pair { uchar a; float4 b; };
kernel void test(device uint* out, threadgroup uint* first [[threadgroup(0)]], threadgroup Pair* second [[threadgroup(1)]],
                 uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint own[16];
  own[i] = i;
  first[i] = i * 10;
  second[i].b = float4(i * 100);
  second[i].a = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint j = 15 - i;
  out[i] = own[j] + first[j] + uint(second[j].b.w) + second[j].a;
})");
  Buffer out(64);
  run(kernel, Dispatch().buffer(0, out).threadgroup_memory(0, 64).threadgroup_memory(1, 512).threads({16}, {16}));
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(out.as<std::uint32_t>()[i], (15 - i) * 112);
}

TEST_F(ReferenceEngine, RecursionWorksWithAndWithoutMeetings) {
  Kernel kernel = compile(R"(
uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
uint deep(uint n) { return n == 0 ? simd_sum(1u) : deep(n - 1) + 1; }
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  out[i] = fibonacci(i % 16) + 1000 * deep(5);
})");
  auto out = run_threads(kernel, 64, {64}, {64});
  EXPECT_EQ(out[15], 610u + 37000);
  EXPECT_EQ(out[63], 610u + 37000);
}

TEST_F(ReferenceEngine, RecursiveFunctionsHaveBarriersAndVariables) {
  Kernel kernel = compile(R"(
uint deep(uint n, threadgroup uint* t, uint i) {
  uint own[4] = {i, i + 1, i + 2, i + 3};
  t[i] = own[n & 3];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint other = t[i ^ 33];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return n == 0 ? other : deep(n - 1, t, i) + other + own[(n + 1) & 3];
}
kernel void test(device uint* out, uint i [[thread_index_in_threadgroup]], uint g [[thread_position_in_grid]]) {
  threadgroup uint t[256];
  uint a[16];
  for (uint k = 0; k < 16; ++k) a[k] = k * i;
  uint depth = simd_max(i & 1) + 1;
  out[g] = deep(depth, t, i) + a[depth];
})");
  auto out = run_threads(kernel, 600, {600}, {256});
  for (unsigned g = 0; g < 512; ++g) {
    const unsigned i = g % 256, other = i ^ 33;
    // At depths 2, 1 and 0.
    ASSERT_EQ(out[g], (other + 2) + (i + 3) + (other + 1) + (i + 2) + other + 2 * i) << g;
  }
}

TEST_F(ReferenceEngine, IntegerArithmeticNeverTraps) {
  Kernel kernel = compile(R"(
kernel void test(device int* out, device const int* in [[buffer(1)]]) {
  int zero = in[0], minus_one = in[1], least = in[2], big = in[3];
  float nan = as_type<float>(in[4]), huge = as_type<float>(in[5]);
  out[0] = 7 / zero; out[1] = 7 % zero; out[2] = least / minus_one; out[3] = least % minus_one;
  out[4] = int(7u / uint(zero)); out[5] = int(7u % uint(zero));
  out[6] = 1 << (big + 1); out[7] = least >> (big + 2); out[8] = int(uint(least) >> uint(big + 3));
  out[9] = int(nan); out[10] = int(huge); out[11] = int(-huge); out[12] = int(uint(-huge)); out[13] = int(uint(huge));
  out[14] = int(char(huge)); out[15] = int(ulong(1) << ulong(big + 33));
})");
  Buffer out(64), in(32);
  std::int32_t values[] = {0, -1, INT32_MIN, 31, 0x7fc00000, 0x7149f2ca /* 1e30 */};
  std::copy(std::begin(values), std::end(values), in.as<std::int32_t>().begin());
  run(kernel, Dispatch().buffer(0, out).buffer(1, in).threads({1}, {1}));
  EXPECT_THAT(
      std::vector<std::int32_t>(out.as<std::int32_t>().begin(), out.as<std::int32_t>().end()),
      ElementsAre(7, 0, INT32_MIN, 0, 7, 0, 1, INT32_MIN >> 1, 0x20000000, 0, INT32_MAX, INT32_MIN, 0, -1, 127, 1));
}

TEST_F(ReferenceEngine, ReadsAndWritesAtAnyAddress) {
  Kernel kernel = compile(R"(
kernel void test(device float4* out, device const uchar* in [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = *reinterpret_cast<device const float4*>(in + 1 + 16 * i);
})");
  alignas(64) unsigned char bytes[4 + 32 * 16 + 1] = {};
  alignas(64) unsigned char from[2 + 32 * 16] = {};
  for (unsigned i = 0; i < 128; ++i) {
    float value = static_cast<float>(i);
    std::memcpy(from + 1 + 4 * i, &value, 4);
  }
  run(kernel, Dispatch()
                  .buffer(0, Buffer::wrap(bytes + 4, 32 * 16))
                  .buffer(1, Buffer::wrap(from, sizeof(from)))
                  .threads({32}, {32}));
  float last;
  std::memcpy(&last, bytes + 4 + 127 * 4, 4);
  EXPECT_EQ(last, 127);
}

TEST_F(ReferenceEngine, CrashesBecomeErrorsAndTheProcessLivesOn) {
  Kernel plain = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i == 777) *(device uint*)(ulong(i)) = 1;
  out[i] = i;
})");
  Kernel meeting = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint sum = simd_sum(i);
  if (i == 777) *(device uint*)(ulong(i)) = 1;
  out[i] = simd_sum(sum);
})");
  Kernel recursive = compile(R"(
uint deep(uint n, uint i) {
  if (n > 0) return deep(n - 1, i) + 1;
  uint sum = simd_sum(i);
  if (i == 777) *(device uint*)(ulong(i)) = 1;
  return simd_sum(sum);
}
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = deep(3, i); })");
  for (int repeat = 0; repeat < 20; ++repeat) {
    for (const Kernel& kernel : {plain, meeting, recursive}) {
      std::string message = error_of(ErrorCode::kernel_crashed, [&] { run_threads(kernel, 1024, {1024}, {64}); });
      EXPECT_THAT(message, AllOf(HasSubstr("'test'"), HasSubstr("SIGSEGV"), HasSubstr("0x309"), HasSubstr("(12, 0, 0)"),
                                 HasSubstr("program_source:")));
      EXPECT_NE(run_threads(kernel, 64, {64}, {64})[63], 0u);
    }
  }
}

TEST_F(ReferenceEngine, StackOverflowIsACrash) {
  Kernel kernel = compile(R"(
uint endless(uint n, thread uint* p) { uint x[64]; x[n % 64] = *p; return n == 0xffffffff ? 0 : endless(n + 1, x + n % 64) + x[3]; }
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint start = simd_sum(i);
  if (i == 5) out[i] = endless(0, &start);
  out[i] = simd_sum(1u);
})");
  std::string message = error_of(ErrorCode::kernel_crashed, [&] { run_threads(kernel, 64, {64}, {64}); });
  EXPECT_THAT(message, HasSubstr("stack"));
}

TEST_F(ReferenceEngine, StackOverflowOnAFiberIsACrash) {
  Kernel kernel = compile(R"(
uint endless(uint n, thread uint* p) {
  uint x[64];
  x[n % 64] = *p;
  return n == 0xffffffff ? simd_sum(n) : endless(n + 1, x + n % 64) + x[3];
}
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint start = simd_sum(i);
  if (i == 5) out[i] = endless(0, &start);
})");
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::string message = error_of(ErrorCode::kernel_crashed, [&] { run_threads(kernel, 64, {64}, {64}); });
    EXPECT_THAT(message, HasSubstr("stack overflowed"));
  }
}

TEST_F(ReferenceEngine, StackOverflowIsACrashWhereThreadsNeverMeet) {
  Kernel kernel = compile(R"(
uint endless(uint n, thread uint* p) { uint x[64]; x[n % 64] = *p; return n == 0xffffffff ? 0 : endless(n + 1, x + n % 64) + x[3]; }
kernel void test(device uint* out) { uint start = out[0]; out[0] = endless(0, &start); })");
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::string message = error_of(ErrorCode::kernel_crashed, [&] { run_threads(kernel, 64, {64}, {8}); });
    EXPECT_THAT(message, HasSubstr("stack overflowed"));
  }
}

TEST_F(ReferenceEngine, LargePrivateArraysFit) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[20000];
  for (uint k = 0; k < 20000; ++k) big[k] = k * i;
  uint at = simd_sum(1u) * 100;
  out[i] = big[at + i];
})");
  auto out = run_threads(kernel, 64, {64}, {64});
  EXPECT_EQ(out[63], (3200u + 63) * 63);
}

// Larger than any thread's stack.
TEST_F(ReferenceEngine, HugePrivateArraysFitWhereThreadsNeverMeet) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint big[4 << 20];
  for (uint k = 0; k < 4 << 20; k += 4096) big[k] = k + i;
  out[i] = big[out[i] * 4096];
})");
  Buffer out(64 * sizeof(std::uint32_t));
  for (unsigned i = 0; i < 64; ++i) out.as<std::uint32_t>()[i] = i * 16;
  run(kernel, Dispatch().buffer(0, out).threads({64}, {8}));
  for (unsigned i = 0; i < 64; ++i) ASSERT_EQ(out.as<std::uint32_t>()[i], i * 16 * 4096 + i);
}

TEST_F(ReferenceEngine, TooManyVariablesAreAnError) {
  const std::string lines = R"( {
  uint big[64 << 20];
  for (uint k = 0; k < 64 << 20; k += 4096) big[k] = k + i;
  MEET out[i] = big[out[i] * 4096];
})";
  const std::string head = "kernel void test(device uint* out, uint i [[thread_position_in_grid]])";
  Kernel meeting = compile("#define MEET simd_sum(i);\n" + head + lines);
  std::string message = error_of(ErrorCode::limit_exceeded, [&] { run_threads(meeting, 32, {32}, {32}); });
  EXPECT_THAT(message, AllOf(HasSubstr("'test'"), HasSubstr("8589934592 bytes for 32 threads that meet")));
  EXPECT_EQ(run_threads(compile("#define MEET\n" + head + lines), 2, {2}, {2})[1], 1u);
}

TEST_F(ReferenceEngine, PointersToVariablesSurviveMeetings) {
  Kernel kernel = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  uint a[8], b[8];
  thread uint* p = i % 3 ? a : b;
  for (uint k = 0; k < 8; ++k) { a[k] = k + i; b[k] = 100 * k + i; }
  uint turn = simd_sum(1u) / 8;
  p[turn] += 1000;
  threadgroup_barrier(mem_flags::mem_none);
  p[turn + 1] = a[turn] + b[turn];
  simdgroup_barrier(mem_flags::mem_none);
  out[i] = *(p + simd_max(turn) + 1);
})");
  auto out = run_threads(kernel, 96, {96}, {96});
  for (unsigned i = 0; i < 96; ++i) ASSERT_EQ(out[i], 4 + 400 + 2 * i + 1000) << i;
}

TEST_F(ReferenceEngine, EndlessKernelsAreStopped) {
  using std::chrono::milliseconds;
  Kernel plain = compile(
      "kernel void test(device atomic_uint* out) { while (true) atomic_fetch_add_explicit(out, 1, "
      "memory_order_relaxed); }");
  Kernel empty = compile("kernel void test(device uint* out) { while (true) {} }");
  Kernel barriers =
      compile("kernel void test(device uint* out) { while (out[0] == 0) threadgroup_barrier(mem_flags::mem_device); }");
  Kernel recursive = compile(R"(
uint deep(uint n, device uint* out) {
  if (n > 0) return deep(n - 1, out) + 1;
  while (out[0] == 0) threadgroup_barrier(mem_flags::mem_device);
  return 1;
}
kernel void test(device uint* out) { deep(3, out); })");
  Kernel ballots = compile("kernel void test(device uint* out) { while (simd_sum(out[0]) == 0) ; }");
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const Kernel& kernel : {plain, empty, barriers, ballots, recursive}) {
      auto start = std::chrono::steady_clock::now();
      std::string message =
          error_of(ErrorCode::kernel_timed_out, [&] { run_threads(kernel, 1, {4096}, {64}, milliseconds(50)); });
      EXPECT_THAT(message, AllOf(HasSubstr("'test'"), HasSubstr("0.05 s")));
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    }
  }
}

TEST_F(ReferenceEngine, CrashesAndFineKernelsRunSideBySide) {
  Kernel crash = compile(
      "kernel void test(device uint* out, uint i [[thread_position_in_grid]]) { simd_sum(i); *(device uint*)(ulong(i)) "
      "= 1; }");
  Kernel fine = compile(R"(
kernel void test(device uint* out, uint i [[thread_position_in_grid]]) {
  threadgroup_barrier(mem_flags::mem_none);
  out[i] = simd_sum(1u);
})");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 25; ++repeat) {
        if (t % 2) {
          error_of(ErrorCode::kernel_crashed, [&] { run_threads(crash, 512, {512}, {64}); });
        } else {
          ASSERT_THAT(run_threads(fine, 512, {512}, {64}), Each(32u));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace metalloid
