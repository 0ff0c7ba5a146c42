// Counters: a buffer of times, which command buffers fill in while they run.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metal/metal/validation.h"

using namespace metalloid::metal;

MTLCommonCounter const MTLCommonCounterTimestamp = @"GPUTimestamp";
MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";
NSErrorDomain const MTLCounterErrorDomain = @"MTLCounterErrorDomain";

@interface MetalloidCounter : NSObject <MTLCounter>
@end
@implementation MetalloidCounter
- (NSString*)name {
  return MTLCommonCounterTimestamp;
}
@end

@interface MetalloidCounterSet : NSObject <MTLCounterSet>
@end
@implementation MetalloidCounterSet
- (NSString*)name {
  return MTLCommonCounterSetTimestamp;
}
- (NSArray<id<MTLCounter>>*)counters {
  static NSArray* const all = [[NSArray alloc] initWithObjects:[[MetalloidCounter alloc] init], nil];
  return all;
}
@end

@implementation MTLCounterSampleBufferDescriptor
- (id)copy {
  MTLCounterSampleBufferDescriptor* other = [[MTLCounterSampleBufferDescriptor alloc] init];
  [other setCounterSet:[self counterSet]];
  [other setLabel:[self label]];
  [other setStorageMode:[self storageMode]];
  [other setSampleCount:[self sampleCount]];
  return other;
}
- (void)dealloc {
  [self setCounterSet:nil];
  [self setLabel:nil];
  [super dealloc];
}
@end

@interface MetalloidCounterSampleBuffer : NSObject <MTLCounterSampleBuffer>
@end
@implementation MetalloidCounterSampleBuffer {
 @public
  std::string name;
  std::vector<std::uint64_t> samples;  // written by command buffers, in their order
  id<MTLDevice> device;
}
@synthesize device = device;
- (NSString*)label {
  return string_of(name);
}
- (NSUInteger)sampleCount {
  return samples.size();
}
- (NSData*)resolveCounterRange:(NSRange)range {
  if (range.location > samples.size() || range.length > samples.size() - range.location) {
    refuse({"MTLCounterSampleBuffer", "resolveCounterRange:"},
           fmt::format("range {{{}, {}}} leaves a buffer of {} samples", range.location, range.length, samples.size()));
  }
  return [NSData dataWithBytes:samples.data() + range.location length:range.length * sizeof(std::uint64_t)];
}
- (void)dealloc {
  [device release];
  [super dealloc];
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptor
- (instancetype)init {
  _startOfEncoderSampleIndex = _endOfEncoderSampleIndex = MTLCounterDontSample;
  return self;
}
- (id)copy {
  MTLComputePassSampleBufferAttachmentDescriptor* other = [[MTLComputePassSampleBufferAttachmentDescriptor alloc] init];
  [other setSampleBuffer:_sampleBuffer];
  [other setStartOfEncoderSampleIndex:_startOfEncoderSampleIndex];
  [other setEndOfEncoderSampleIndex:_endOfEncoderSampleIndex];
  return other;
}
- (void)dealloc {
  [self setSampleBuffer:nil];
  [super dealloc];
}
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray {
  std::array<MTLComputePassSampleBufferAttachmentDescriptor*, 4> all;
}
- (MTLComputePassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:(NSUInteger)index {
  if (index >= all.size()) return nil;
  if (!all[index]) all[index] = [[MTLComputePassSampleBufferAttachmentDescriptor alloc] init];
  return all[index];
}
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor*)attachment atIndexedSubscript:(NSUInteger)index {
  if (index >= all.size()) return;
  [all[index] release];
  all[index] = [attachment copy];
}
- (id)copy {
  MTLComputePassSampleBufferAttachmentDescriptorArray* other =
      [[MTLComputePassSampleBufferAttachmentDescriptorArray alloc] init];
  for (NSUInteger i = 0; i < all.size(); ++i) {
    if (all[i]) [other setObject:all[i] atIndexedSubscript:i];
  }
  return other;
}
- (void)dealloc {
  for (id one : all) [one release];
  [super dealloc];
}
@end

NSArray<id<MTLCounterSet>>* metalloid::metal::counter_sets() {
  static NSArray* const all = [[NSArray alloc] initWithObjects:[[MetalloidCounterSet alloc] init], nil];
  return all;
}

MTLTimestamp metalloid::metal::timestamp() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<MTLTimestamp>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

id<MTLCounterSampleBuffer> metalloid::metal::new_sample_buffer(id<MTLDevice> device,
                                                               MTLCounterSampleBufferDescriptor* descriptor,
                                                               NSError** error) {
  constexpr NSUInteger most_samples = 4096;  // as on a Mac, where a sample buffer has 32 KiB
  const char* problem = ![descriptor counterSet]                  ? "a counter sample buffer needs a counter set"
                        : [descriptor sampleCount] == 0           ? "a counter sample buffer needs samples"
                        : [descriptor sampleCount] > most_samples ? "a counter sample buffer has at most 4096 samples"
                                                                  : nullptr;
  if (error)
    *error = problem ? objective_c::error_of(MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid, problem) : nil;
  if (problem) return nil;
  MetalloidCounterSampleBuffer* one = [[MetalloidCounterSampleBuffer alloc] init];
  one->name = text_of([descriptor label]);
  one->samples.assign([descriptor sampleCount], MTLCounterErrorValue);
  one->device = [device retain];
  return one;
}

void metalloid::metal::sample(CommandBufferObject& commands, id<MTLCounterSampleBuffer> buffer, NSUInteger index) {
  if (!buffer || index == MTLCounterDontSample) return;
  if (![(id)buffer isKindOfClass:[MetalloidCounterSampleBuffer class]]) {
    fail(Fault::type, "an MTLCounterSampleBuffer is wanted here");
  }
  MetalloidCounterSampleBuffer* own = (MetalloidCounterSampleBuffer*)buffer;
  if (index >= own->samples.size()) {
    refuse({"MTLComputeCommandEncoder", "sampleCountersInBuffer:atSampleIndex:withBarrier:"},
           fmt::format("sampleIndex({}) must be < [sampleBuffer sampleCount]({}).", index, own->samples.size()));
  }
  commands.call(
      [kept = held(buffer), index] { ((MetalloidCounterSampleBuffer*)kept.get())->samples[index] = timestamp(); });
}
