// What Metal's host API adds to launches: 1,000 small dispatches in one command buffer, by Metal's protocols and by the
// C++ API below them, by turns.
//
//   metalloid_encoding [DEVICE]
#import <Metal/Metal.h>

#include <metalloid/device.h>
#include <metalloid/dispatch.h>
#include <metalloid/queue.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int dispatches = 1000, rounds = 31;
constexpr const char* source =
    "#include <metal_stdlib>\n"
    "kernel void add(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {\n"
    "  y[i] += a * x[i];\n"
    "}\n";

using Clock = std::chrono::steady_clock;
double microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count() / dispatches;
}

struct Times {
  std::vector<double> encoded, done;  // microseconds of a dispatch
};
double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

class Metal {
 public:
  Metal() {
    device_ = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    id<MTLLibrary> library = [device_ newLibraryWithSource:@(source) options:nil error:&error];
    state_ = [device_ newComputePipelineStateWithFunction:[library newFunctionWithName:@"add"] error:&error];
    queue_ = [device_ newCommandQueue];
    for (id<MTLBuffer>& one : buffers_) one = [device_ newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  }
  std::string name() const { return [[device_ name] UTF8String]; }

  void run(Times& times) const {
    @autoreleasepool {
      const auto begin = Clock::now();
      id<MTLCommandBuffer> commands = [queue_ commandBuffer];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
      [encoder setComputePipelineState:state_];
      for (int i = 0; i < dispatches; ++i) {
        const float a = static_cast<float>(i);
        [encoder setBuffer:buffers_[i % 2] offset:0 atIndex:0];
        [encoder setBuffer:buffers_[2] offset:0 atIndex:1];
        [encoder setBytes:&a length:sizeof a atIndex:2];
        [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
      }
      [encoder endEncoding];
      [commands commit];
      const auto encoded = Clock::now();
      [commands waitUntilCompleted];
      times.encoded.push_back(microseconds(begin, encoded));
      times.done.push_back(microseconds(begin, Clock::now()));
    }
  }

 private:
  id<MTLDevice> device_;
  id<MTLComputePipelineState> state_;
  id<MTLCommandQueue> queue_;
  id<MTLBuffer> buffers_[3];
};

class Direct {
 public:
  Direct() {
    for (int i = 0; i < 3; ++i) buffers_.emplace_back(device_, 4096, metalloid::Buffer::Storage::shared);
  }

  void run(Times& times) {
    const auto begin = Clock::now();
    metalloid::CommandBuffer commands = queue_.command_buffer();
    for (int i = 0; i < dispatches; ++i) {
      metalloid::Dispatch dispatch;
      dispatch.buffer(0, buffers_[i % 2]).buffer(1, buffers_[2]).value(2, static_cast<float>(i));
      commands.dispatch(kernel_, dispatch.threads({64}, {64}));
    }
    commands.commit();
    const auto encoded = Clock::now();
    commands.wait_until_completed();
    times.encoded.push_back(microseconds(begin, encoded));
    times.done.push_back(microseconds(begin, Clock::now()));
  }

 private:
  metalloid::Device device_ = metalloid::Device::configured();
  metalloid::Kernel kernel_ = device_.make_library(source).kernel("add");
  metalloid::Queue queue_{device_};
  std::vector<metalloid::Buffer> buffers_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) setenv("METALLOID_DEVICE", arguments[1], 1);
  @autoreleasepool {
    const Metal metal;
    Direct direct;
    Times by_metal, by_direct, ignored;
    metal.run(ignored);
    direct.run(ignored);
    for (int i = 0; i < rounds; ++i) {
      metal.run(by_metal);
      direct.run(by_direct);
    }
    std::printf("%s, microseconds of one of %d dispatches, medians of %d rounds\n", metal.name().c_str(), dispatches,
                rounds);
    std::printf("%-28s %18s %12s\n", "", "encoded, committed", "done");
    std::printf("%-28s %18.2f %12.2f\n", "Metal's host API", median(by_metal.encoded), median(by_metal.done));
    std::printf("%-28s %18.2f %12.2f\n", "Metalloid's C++ API", median(by_direct.encoded), median(by_direct.done));
  }
}
