// Streams over those of others, on device trial: memory that the host cannot reach, work that is done later.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid::shared_stream_test {
namespace {

[[maybe_unused]] const int registered = ::setenv("METALLOID_TRIAL_ENGINE", "1", 1);

class SharedStream : public testing::Test {
 protected:
  void SetUp() override {
    device = Device::cpu();
    for (const Device& each : Device::choices()) {
      if (each.name() == "trial") device = each;
    }
    ASSERT_EQ(device.name(), "trial");
  }

  Kernel kernel(const char* source) const { return device.make_library(source).kernel("k"); }
  std::vector<float> elements(const Buffer& buffer) const {
    std::vector<float> result(buffer.size() / sizeof(float));
    buffer.read(0, std::as_writable_bytes(std::span(result)));
    return result;
  }

  Device device = Device::cpu();
};

constexpr const char* add_one =
    "kernel void k(device float* x, constant float& y, uint i [[thread_position_in_grid]]) { x[i] += y; }";

TEST_F(SharedStream, WorkIsDoneInOrderOnMemoryThatIsThere) {
  Stream stream(device, 7);
  const Buffer own(device, 16);
  const Buffer memory = Buffer::wrap(device, own.gpu_address(), own.size());
  EXPECT_EQ(memory.contents(), nullptr);
  const Kernel k = kernel(add_one);
  for (int i = 1; i <= 3; ++i) {
    stream.dispatch(k, Dispatch().buffer(0, memory).value(1, static_cast<float>(i)).threads({4}, {4}));
  }
  stream.synchronize();
  EXPECT_TRUE(stream.is_idle());
  EXPECT_EQ(elements(own), (std::vector<float>{6, 6, 6, 6}));
}

TEST_F(SharedStream, MemoryOfTheHostThatKernelsOnlyReadGoesAlong) {
  Stream stream(device, 0);
  const Buffer result(device, 16);
  const Kernel k = kernel(
      "kernel void k(device float* x, device const float* y, uint i [[thread_position_in_grid]]) { x[i] = y[i]; }");
  Buffer host(16);
  host.as<float>()[3] = 5;
  stream.dispatch(k, Dispatch().buffer(0, result).buffer(1, host).threads({4}, {4}));
  host.as<float>()[3] = 6;
  stream.synchronize();
  EXPECT_EQ(elements(result)[3], 5);
}

TEST_F(SharedStream, MemoryOfTheHostThatAKernelWritesIsThereAtOnce) {
  Stream stream(device, 0);
  const Buffer host(16);
  stream.dispatch(kernel(add_one), Dispatch().buffer(0, host).value(1, 2.0F).threads({4}, {4}));
  EXPECT_EQ(host.as<float>()[0], 2);
}

TEST_F(SharedStream, ErrorsAreThrownLater) {
  Stream stream(device, 0);
  const Kernel k = kernel("kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i + 100] = 1; }");
  const Buffer memory(device, 16);
  stream.dispatch(k, Dispatch().buffer(0, memory).threads({1}, {1}));
  EXPECT_THROW(stream.synchronize(), Error);
  stream.synchronize();
}

TEST_F(SharedStream, HardwareWithoutStreamsHasNone) { EXPECT_THROW(Stream(Device::cpu(), 0), Error); }

}  // namespace
}  // namespace metalloid::shared_stream_test
