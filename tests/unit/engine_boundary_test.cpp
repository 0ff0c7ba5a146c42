// What surrounds engines, seen with one that has memory of its own and is done later (engines/trial).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace engine_boundary_test {

using testing::ElementsAre;
using testing::HasSubstr;

// Before anything asks for the list of engines.
[[maybe_unused]] const int registered = ::setenv("METALLOID_TRIAL_ENGINE", "1", 1);

Device trial() { return Device::named("trial"); }

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void add(device const float* a [[buffer(0)]], device float* b [[buffer(1)]], constant float& c [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
  b[i] = a[i] + b[i] + c;
}
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
kernel void total(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  b[i] = simd_sum(a[i]) + fibonacci(int(a[0]) - 1);
}
kernel void touch(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = 7; }
)";

Library library() {
  CompileOptions options;
  options.source_name = "boundary.metal";
  return trial().make_library(source, options);
}

void set(const Buffer& buffer, const std::vector<float>& values) { buffer.write(0, std::as_bytes(std::span(values))); }

std::vector<float> get(const Buffer& buffer) {
  std::vector<float> values(buffer.size() / sizeof(float));
  buffer.read(0, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(EngineBoundary, MemoryOfADeviceIsReachedByCopies) {
  const Buffer a(trial(), 16), b(trial(), 16);
  EXPECT_EQ(a.contents(), nullptr);
  EXPECT_EQ(a.as<float>().size(), 0u);
  EXPECT_NE(a.gpu_address(), 0u);
  EXPECT_THAT(get(a), ElementsAre(0, 0, 0, 0));
  set(a, {1, 2, 3, 4});
  set(b, {10, 20, 30, 40});
  const Kernel add = library().kernel("add");
  EXPECT_EQ(add.engine(), "trial");
  EXPECT_TRUE(add.remarks().empty());
  run(add, Dispatch().buffer(0, a).buffer(1, b).value(2, 0.5f).threads({4}, {4}));
  EXPECT_THAT(get(b), ElementsAre(11.5f, 22.5f, 33.5f, 44.5f));
  EXPECT_THAT(get(a), ElementsAre(1, 2, 3, 4));
  std::array<std::byte, 8> room;
  EXPECT_THROW(a.read(12, room), Error);
  EXPECT_THROW(a.write(17, {}), Error);
}

TEST(EngineBoundary, HostMemoryIsCopiedThereAndBack) {
  std::vector<float> a = {1, 2}, b = {3, 4};
  const Kernel add = library().kernel("add");
  run(add, Dispatch()
               .buffer(0, Buffer::wrap(a.data(), 8))
               .buffer(1, Buffer::wrap(b.data(), 8))
               .value(2, 0.0f)
               .threads({2}, {2}));
  EXPECT_THAT(b, ElementsAre(4, 6));
  EXPECT_THAT(a, ElementsAre(1, 2));
}

// b is a moved on by one element: what the kernel writes through one it reads through the other.
TEST(EngineBoundary, WhatIsBoundTwiceIsOneMemory) {
  std::vector<float> numbers = {1, 2, 3, 4, 5};
  const Kernel add = library().kernel("add");
  for (unsigned i = 0; i < 4; ++i) {
    run(add, Dispatch()
                 .buffer(0, Buffer::wrap(numbers.data(), 20), 4 * i)
                 .buffer(1, Buffer::wrap(numbers.data() + 1, 16), 4 * i)
                 .value(2, 0.0f)
                 .threads({1}, {1}));
  }
  EXPECT_THAT(numbers, ElementsAre(1, 3, 6, 10, 15));
}

TEST(EngineBoundary, FallBacksShowWithTheirRemark) {
  const Kernel total = library().kernel("total");
  EXPECT_EQ(total.engine(), "reference");
  EXPECT_EQ(total.device().name(), "trial");
  ASSERT_EQ(total.remarks().size(), 1u);
  const Remark& remark = total.remarks()[0];
  EXPECT_EQ(remark.engine, "trial");
  EXPECT_EQ(remark.reason, "a call that could not be inlined");
  EXPECT_EQ(remark.source_file, "boundary.metal");
  EXPECT_NE(remark.source_line, 0u);
  // From the cache it says the same.
  EXPECT_EQ(library().kernel("total").remarks().size(), 1u);
  // Its memory goes from the device to the host and back.
  const Buffer a(trial(), 16), b(trial(), 16);
  set(a, {1, 2, 3, 4});
  run(total, Dispatch().buffer(0, a).buffer(1, b).threads({4}, {4}));
  EXPECT_THAT(get(b), ElementsAre(10, 10, 10, 10));
}

TEST(EngineBoundary, DevicesDoNotShareLoadedKernels) {
  std::vector<float> numbers(4);
  const Kernel here = Device::cpu().make_library(source).kernel("touch");
  const Kernel there = trial().make_library(source).kernel("touch");
  EXPECT_EQ(here.engine(), Device::cpu().engine());
  EXPECT_EQ(there.engine(), "trial");
  for (const Kernel& kernel : {here, there}) {
    run(kernel, Dispatch().buffer(0, Buffer::wrap(numbers.data(), 16)).threads({4}, {4}));
    EXPECT_THAT(numbers, ElementsAre(7, 7, 7, 7));
    numbers.assign(4, 0);
  }
}

TEST(EngineBoundary, AQueueIsOfItsDevice) {
  Queue queue(trial());
  const Buffer a(trial(), 16);
  const Kernel here = Device::cpu().make_library(source).kernel("touch");
  try {
    queue.submit(here, Dispatch().buffer(0, a).threads({4}, {4}));
    FAIL() << "a kernel of another device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("'touch' was made for device 'cpu'; the queue is of device 'trial'"));
  }
  queue.submit(library().kernel("touch"), Dispatch().buffer(0, a).threads({4}, {4})).wait();
  EXPECT_THAT(get(a), ElementsAre(7, 7, 7, 7));
}

TEST(EngineBoundary, FailuresBringBackWhatWasWritten) {
  const Kernel kernel = trial()
                            .make_library(R"(
kernel void half_way(device uint* a [[buffer(0)]]) {
  a[0] = 1;
  device uint* nowhere = nullptr;
  nowhere[4] = 2;
}
)")
                            .kernel("half_way");
  std::vector<std::uint32_t> numbers(4);
  EXPECT_THROW(run(kernel, Dispatch().buffer(0, Buffer::wrap(numbers.data(), 16)).threads({1}, {1})), Error);
  EXPECT_THAT(numbers, ElementsAre(1, 0, 0, 0));
}

}  // namespace engine_boundary_test
}  // namespace metalloid
