// MTLCommandQueue and MTLCommandBuffer.
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metal/metal/validation.h"

using namespace metalloid::metal;

NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey = @"MTLCommandBufferEncoderInfoErrorKey";

@implementation MTLCommandQueueDescriptor
- (void)dealloc {
  [_logState release];
  [super dealloc];
}
- (id)copy {
  MTLCommandQueueDescriptor* other = [[MTLCommandQueueDescriptor alloc] init];
  [other setMaxCommandBufferCount:_maxCommandBufferCount];
  [other setLogState:_logState];
  return other;
}
@end

@implementation MTLCommandBufferDescriptor
- (instancetype)init {
  _retainedReferences = YES;
  return self;
}
- (void)dealloc {
  [_logState release];
  [super dealloc];
}
- (id)copy {
  MTLCommandBufferDescriptor* other = [[MTLCommandBufferDescriptor alloc] init];
  [other setRetainedReferences:_retainedReferences];
  [other setErrorOptions:_errorOptions];
  [other setLogState:_logState];
  return other;
}
@end

@interface MetalloidCommandQueue : NSObject <MTLCommandQueue>
@end
@implementation MetalloidCommandQueue
METALLOID_LABEL(QueueObject)
- (id<MTLDevice>)device {
  return (id)self_as<QueueObject>(self).device;
}
- (id<MTLCommandBuffer>)commandBuffer {
  auto* buffer = make_object<CommandBufferObject>(&self_as<QueueObject>(self));
  use_log(*buffer, true);
  return [(id)buffer autorelease];
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  id<MTLCommandBuffer> buffer = [self commandBuffer];
  self_as<CommandBufferObject>(buffer).retains_references = false;
  return buffer;
}
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor*)descriptor {
  auto* buffer = make_object<CommandBufferObject>(&self_as<QueueObject>(self));
  buffer->retains_references = [descriptor retainedReferences];
  buffer->error_options = [descriptor errorOptions];
  if ([descriptor logState]) buffer->log = held([descriptor logState]);
  use_log(*buffer, true);
  return [(id)buffer autorelease];
}
- (void)insertDebugCaptureBoundary {
}
// All memory is resident.
- (void)addResidencySet:(id<MTLResidencySet>)set {
}
- (void)addResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
}
- (void)removeResidencySet:(id<MTLResidencySet>)set {
}
- (void)removeResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
}
@end

@interface MetalloidEncoderInfo : NSObject <MTLCommandBufferEncoderInfo>
@end
@implementation MetalloidEncoderInfo {
 @public
  NSString* text;
  MTLCommandEncoderErrorState state;
}
- (void)dealloc {
  [text release];
  [super dealloc];
}
- (NSString*)label {
  return text;
}
- (NSArray<NSString*>*)debugSignposts {
  return [NSArray array];
}
- (MTLCommandEncoderErrorState)errorState {
  return state;
}
- (NSString*)description {
  static NSString* const names[] = {@"unknown", @"completed", @"affected", @"pending", @"faulted"};
  return [NSString stringWithFormat:@"%@: %@", text, names[state]];
}
@end

namespace {

MTLCommandBufferError code_of(const std::exception& failure) {
  using metalloid::ErrorCode;
  const auto* known = dynamic_cast<const metalloid::Error*>(&failure);
  if (!known) return MTLCommandBufferErrorInternal;
  switch (known->code()) {
    case ErrorCode::out_of_bounds: return MTLCommandBufferErrorPageFault;
    case ErrorCode::kernel_timed_out: return MTLCommandBufferErrorTimeout;
    case ErrorCode::kernel_interrupted: return MTLCommandBufferErrorAccessRevoked;
    case ErrorCode::invalid_argument: return MTLCommandBufferErrorInvalidResource;
    default: return MTLCommandBufferErrorInternal;
  }
}

// Before the encoder that failed all are done, and behind it none has begun.
NSArray* encoder_infos(const CommandBufferObject& commands) {
  NSMutableArray* infos = [NSMutableArray array];
  const std::size_t reached = commands.reached;
  for (std::size_t i = 0; i < commands.encoders.size(); ++i) {
    MetalloidEncoderInfo* info = [[MetalloidEncoderInfo alloc] init];
    info->text = [string_of(commands.encoders[i]) retain];
    info->state = i + 1 < reached    ? MTLCommandEncoderErrorStateCompleted
                  : i + 1 == reached ? MTLCommandEncoderErrorStateFaulted
                                     : MTLCommandEncoderErrorStatePending;
    [infos addObject:info];
    [info release];
  }
  return infos;
}

NSError* error_of(const CommandBufferObject& commands, const std::exception& failure) {
  NSMutableDictionary* info = [NSMutableDictionary dictionary];
  [info setObject:string_of(failure.what()) forKey:NSLocalizedDescriptionKey];
  if (commands.error_options & MTLCommandBufferErrorOptionEncoderExecutionStatus) {
    [info setObject:encoder_infos(commands) forKey:MTLCommandBufferEncoderInfoErrorKey];
  }
  return [NSError errorWithDomain:MTLCommandBufferErrorDomain
                             code:static_cast<NSInteger>(code_of(failure))
                         userInfo:info];
}

std::function<void()> call_of(MTLCommandBufferHandler handler, id<MTLCommandBuffer> buffer) {
  return [block = copied((id)handler), buffer] {
    @autoreleasepool {
      metalloid::metal::call_back([&] { ((MTLCommandBufferHandler)block.get())(buffer); });
    }
  };
}

constexpr std::string_view command_buffer = "_MTLCommandBuffer";

void expect_open(const CommandBufferObject& commands, std::string_view name,
                 const char* otherwise = "commit an already committed command buffer") {
  if (commands.is_committed) refuse({command_buffer, name}, otherwise);
}

}  // namespace

// Where errors are to name encoders each begins with a note of its number.
void metalloid::metal::count_encoder(EncoderObject& encoder) {
  CommandBufferObject* commands = encoder.commands();
  if (!commands->queue()) return;  // a stream has no end at which somebody asks
  expect_open(*commands, "computeCommandEncoder");
  if (is_validating()) {
    expect(!commands->is_encoding, {command_buffer, "computeCommandEncoder"},
           "A command encoder is already encoding to this command buffer");
  }
  commands->is_encoding = true;
  commands->encoders.emplace_back();
  const std::size_t number = encoder.number = commands->encoders.size();
  if (commands->error_options) commands->call([commands, number] { commands->reached = number; });
}

@interface MetalloidCommandBuffer : NSObject <MTLCommandBuffer>
@end
@implementation MetalloidCommandBuffer
METALLOID_LABEL(CommandBufferObject)
- (id<MTLDevice>)device {
  return (id)self_as<CommandBufferObject>(self).device();
}
- (id<MTLCommandQueue>)commandQueue {
  return (id)self_as<CommandBufferObject>(self).queue();
}
- (BOOL)retainedReferences {
  return self_as<CommandBufferObject>(self).retains_references;
}
- (MTLCommandBufferErrorOption)errorOptions {
  return static_cast<MTLCommandBufferErrorOption>(self_as<CommandBufferObject>(self).error_options);
}
- (id<MTLLogContainer>)logs {
  return nil;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  auto* encoder = make_object<EncoderObject>(&self_as<CommandBufferObject>(self));
  count_encoder(*encoder);
  return [(id)encoder autorelease];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  return [self computeCommandEncoder];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor*)descriptor {
  id<MTLComputeCommandEncoder> encoder = [self computeCommandEncoder];
  auto& commands = self_as<CommandBufferObject>(self);
  std::vector<std::pair<std::shared_ptr<void>, NSUInteger>> at_end;
  for (NSUInteger i = 0; MTLComputePassSampleBufferAttachmentDescriptor* attachment =
                             [[descriptor sampleBufferAttachments] objectAtIndexedSubscript:i];
       ++i) {
    id<MTLCounterSampleBuffer> buffer = [attachment sampleBuffer];
    sample(commands, buffer, [attachment startOfEncoderSampleIndex]);
    if (buffer) at_end.emplace_back(held(buffer), [attachment endOfEncoderSampleIndex]);
  }
  if (!at_end.empty()) {
    self_as<EncoderObject>(encoder).at_end = [&commands, at_end] {
      for (const auto& [buffer, index] : at_end) sample(commands, (id)buffer.get(), index);
    };
  }
  return encoder;
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return blit_encoder(self);
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  self_as<CommandBufferObject>(self).wait(event_of(event), value);
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  self_as<CommandBufferObject>(self).signal(event_of(event), value);
}
- (void)useResidencySet:(id<MTLResidencySet>)set {
}
- (void)useResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count {
}
- (void)pushDebugGroup:(NSString*)name {
}
- (void)popDebugGroup {
}
- (void)enqueue {
  self_as<CommandBufferObject>(self).enqueue();
}
- (void)commit {
  auto& commands = self_as<CommandBufferObject>(self);
  expect_open(commands, "commit");
  if (is_validating()) {
    expect(!commands.is_encoding, {command_buffer, "commit"}, "commit command buffer with uncommitted encoder");
  }
  commands.is_committed = commands.queue() != nullptr;
  use_log(self_as<CommandBufferObject>(self), false);
  self_as<CommandBufferObject>(self).commit();
}
- (void)commitAndContinue {
  self_as<CommandBufferObject>(self).commit();
}
- (void)waitUntilCompleted {
  const auto& commands = self_as<CommandBufferObject>(self);
  if (is_validating() && commands.queue()) {
    expect(commands.is_committed, {command_buffer, "waitUntilCompleted"}, "command buffer has not been committed");
  }
  self_as<CommandBufferObject>(self).wait_until_completed();
}
- (void)waitUntilScheduled {
  self_as<CommandBufferObject>(self).wait_until_scheduled();
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  expect_open(self_as<CommandBufferObject>(self),
              "addCompletedHandler:", "Completed handler provided after commit call");
  self_as<CommandBufferObject>(self).on_completed(call_of(handler, self));
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler {
  expect_open(self_as<CommandBufferObject>(self),
              "addScheduledHandler:", "Scheduled handler provided after commit call");
  self_as<CommandBufferObject>(self).on_scheduled(call_of(handler, self));
}
// The numbers are Metal's.
- (MTLCommandBufferStatus)status {
  return static_cast<MTLCommandBufferStatus>(self_as<CommandBufferObject>(self).status());
}
- (NSError*)error {
  const std::exception_ptr failure = self_as<CommandBufferObject>(self).error();
  if (!failure) return nil;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error_of(self_as<CommandBufferObject>(self), error);
  }
}
- (CFTimeInterval)GPUStartTime {
  return self_as<CommandBufferObject>(self).begin();
}
- (CFTimeInterval)GPUEndTime {
  return self_as<CommandBufferObject>(self).end();
}
- (CFTimeInterval)kernelStartTime {
  return self_as<CommandBufferObject>(self).begin();
}
- (CFTimeInterval)kernelEndTime {
  return self_as<CommandBufferObject>(self).end();
}
@end
