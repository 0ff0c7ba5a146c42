// Times of encoders, as profilers ask for them.
#include "running.h"

static uint64_t time_at(id<MTLCounterSampleBuffer> buffer, NSUInteger index) {
  const MTLCounterResultTimestamp* one = [[buffer resolveCounterRange:NSMakeRange(index, 1)] bytes];
  return one->timestamp;
}

int main(void) {
  @autoreleasepool {
    Program program = program_of(SAXPY_SOURCE, "saxpy");
    id<MTLDevice> device = program.device;
    CHECK([device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary]);
    CHECK(![device supportsCounterSampling:MTLCounterSamplingPointAtDispatchBoundary]);
    MTLCounterSampleBufferDescriptor* descriptor = [[MTLCounterSampleBufferDescriptor alloc] init];
    NSError* error = nil;
    descriptor.sampleCount = 6;
    CHECK([device newCounterSampleBufferWithDescriptor:descriptor error:&error] == nil && error != nil);
    CHECK([error.domain isEqual:MTLCounterErrorDomain] && error.code == MTLCounterSampleBufferErrorInvalid);
    for (id<MTLCounterSet> set in device.counterSets) {
      if ([set.name isEqualToString:MTLCommonCounterSetTimestamp]) descriptor.counterSet = set;
    }
    CHECK([descriptor.counterSet.counters[0].name isEqual:MTLCommonCounterTimestamp]);
    descriptor.sampleCount = 100000;
    CHECK([device newCounterSampleBufferWithDescriptor:descriptor error:&error] == nil && error != nil);
    descriptor.sampleCount = 6;
    descriptor.label = @"times";
    id<MTLCounterSampleBuffer> times = [device newCounterSampleBufferWithDescriptor:descriptor error:&error];
    [descriptor release];
    CHECK(times != nil && error == nil && times.sampleCount == 6 && [times.label isEqual:@"times"] &&
          times.device == device);
    CHECK(time_at(times, 0) == MTLCounterErrorValue);

    const NSUInteger count = 4096;
    id<MTLBuffer> x = [device newBufferWithLength:count * sizeof(float) options:MTLResourceStorageModeShared];
    id<MTLBuffer> y = [device newBufferWithLength:count * sizeof(float) options:MTLResourceStorageModeShared];
    const float a = 2;
    for (NSUInteger i = 0; i < count; ++i) ((float*)x.contents)[i] = (float)i;
    MTLTimestamp processor = 0, first = 0, last = 0;
    [device sampleTimestamps:&processor gpuTimestamp:&first];
    id<MTLCommandBuffer> commands = [program.queue commandBuffer];
    for (NSUInteger i = 0; i < 2; ++i) {
      MTLComputePassDescriptor* pass = [MTLComputePassDescriptor computePassDescriptor];
      pass.sampleBufferAttachments[0].sampleBuffer = times;
      pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 2 * i;
      pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = i == 0 ? 1 : MTLCounterDontSample;
      MTLComputePassDescriptor* copy = [[pass copy] autorelease];
      id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDescriptor:copy];
      [encoder setComputePipelineState:program.state];
      [encoder setBuffer:y offset:0 atIndex:0];
      [encoder setBuffer:x offset:0 atIndex:1];
      [encoder setBytes:&a length:sizeof(a) atIndex:2];
      [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
      if (i == 1) [encoder sampleCountersInBuffer:times atSampleIndex:4 withBarrier:YES];
      [encoder endEncoding];
    }
    CHECK(time_at(times, 0) == MTLCounterErrorValue);
    complete(commands);
    [device sampleTimestamps:&processor gpuTimestamp:&last];
    CHECK(((float*)y.contents)[100] == 400);
    const uint64_t order[] = {first, time_at(times, 0), time_at(times, 1), time_at(times, 2), time_at(times, 4), last};
    for (int i = 1; i < 6; ++i) CHECK(order[i - 1] <= order[i]);
    CHECK(time_at(times, 3) == MTLCounterErrorValue && time_at(times, 5) == MTLCounterErrorValue);
    CHECK([times resolveCounterRange:NSMakeRange(0, 6)].length == 6 * sizeof(MTLCounterResultTimestamp));
    [times release];
    [x release];
    [y release];
    let_go_of(program);
  }
  puts("counters");
  return 0;
}
