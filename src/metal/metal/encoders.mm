// Encoders of dispatches and of copies.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metal/metal/validation.h"

using namespace metalloid::metal;

namespace {

// What an error of the command buffer calls the encoder.
void set_label(CommandBufferObject* commands, std::size_t number, NSString* label) {
  if (commands && number != 0) commands->encoders[number - 1] = std::string(text_of(label));
}

NSString* label_of(CommandBufferObject* commands, std::size_t number) {
  return commands && number != 0 ? string_of(commands->encoders[number - 1]) : @"";
}

constexpr std::string_view compute_encoder = "MTLDebugComputeCommandEncoder";

// For a method by this name, while it encodes.
EncoderObject& open(id self, std::string_view name) {
  EncoderObject& encoder = self_as<EncoderObject>(self);
  if (is_validating()) expect(!encoder.is_ended, {compute_encoder, name}, "encoding has ended");
  return encoder;
}

}  // namespace

@implementation MTLComputePassDescriptor {
  MTLComputePassSampleBufferAttachmentDescriptorArray* attachments;
}
+ (MTLComputePassDescriptor*)computePassDescriptor {
  return [[[self alloc] init] autorelease];
}
- (id)copy {
  MTLComputePassDescriptor* other = [[MTLComputePassDescriptor alloc] init];
  [other setDispatchType:_dispatchType];
  other->attachments = [attachments copy];
  return other;
}
- (MTLComputePassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  if (!attachments) attachments = [[MTLComputePassSampleBufferAttachmentDescriptorArray alloc] init];
  return attachments;
}
- (void)dealloc {
  [attachments release];
  [super dealloc];
}
@end

@interface MetalloidComputeEncoder : NSObject <MTLComputeCommandEncoder>
@end
@implementation MetalloidComputeEncoder
- (id<MTLDevice>)device {
  CommandBufferObject* commands = self_as<EncoderObject>(self).commands();
  return (id)(commands ? commands->device() : default_device());
}
- (NSString*)label {
  return label_of(self_as<EncoderObject>(self).commands(), self_as<EncoderObject>(self).number);
}
- (void)setLabel:(NSString*)label {
  set_label(self_as<EncoderObject>(self).commands(), self_as<EncoderObject>(self).number, label);
}
- (MTLDispatchType)dispatchType {
  return MTLDispatchTypeSerial;
}
- (void)endEncoding {
  EncoderObject& encoder = open(self, "endEncoding");
  if (!encoder.is_ended && encoder.at_end) encoder.at_end();
  encoder.is_ended = true;
  if (encoder.commands()) encoder.commands()->is_encoding = false;
}
- (void)insertDebugSignpost:(NSString*)text {
}
- (void)pushDebugGroup:(NSString*)name {
}
- (void)popDebugGroup {
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  open(self, "setComputePipelineState:").set_pipeline(object_of<PipelineObject>((__bridge void*)state));
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  EncoderObject& encoder = open(self, "setBuffer:offset:atIndex:");
  if (is_validating() && buffer) {
    expect(
        offset < [buffer length], { compute_encoder, "setBuffer:offset:atIndex:" },
        fmt::format("offset({}) must be < [buffer length]({}).", offset, [buffer length]));
  }
  encoder.set_buffer(static_cast<unsigned>(index), (__bridge void*)buffer, offset);
}
- (void)setBuffers:(const id<MTLBuffer>[])buffers offsets:(const NSUInteger[])offsets withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i) {
    [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
  }
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  open(self, "setBufferOffset:atIndex:").move_offset(static_cast<unsigned>(index), offset);
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  EncoderObject& encoder = open(self, "setBytes:length:atIndex:");
  if (is_validating()) {
    expect(length <= 4096, {compute_encoder, "setBytes:length:atIndex:"},
           fmt::format("length({}) must be <= 4096", length));
  }
  encoder.set_bytes(static_cast<unsigned>(index), bytes, length);
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  EncoderObject& encoder = open(self, "setThreadgroupMemoryLength:atIndex:");
  if (is_validating()) {
    expect(length % 16 == 0, {compute_encoder, "setThreadgroupMemoryLength:atIndex:"},
           fmt::format("length({}) must be a multiple of 16 bytes.", length));
  }
  encoder.set_threadgroup_memory(static_cast<unsigned>(index), length);
}
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
  EncoderObject& encoder = open(self, "dispatchThreads:threadsPerThreadgroup:");
  if (is_validating())
    validate_dispatch(encoder, "dispatchThreads:threadsPerThreadgroup:", extents(threads), extents(group));
  encoder.dispatch_threads(extents(threads), extents(group));
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group {
  EncoderObject& encoder = open(self, "dispatchThreadgroups:threadsPerThreadgroup:");
  if (is_validating())
    validate_dispatch(encoder, "dispatchThreadgroups:threadsPerThreadgroup:", extents(groups), extents(group));
  encoder.dispatch_threadgroups(extents(groups), extents(group));
}
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group {
  self_as<EncoderObject>(self).dispatch_threadgroups(memory_of((__bridge void*)buffer), offset, extents(group));
}
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
  execute(self_as<EncoderObject>(self), buffer, range);
}
// Every dispatch has finished before the next begins.
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
}
- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count {
}
- (void)updateFence:(id<MTLFence>)fence {
}
- (void)waitForFence:(id<MTLFence>)fence {
}
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
  const auto access = usage & MTLResourceUsageWrite ? metalloid::Access::read_write : metalloid::Access::read;
  self_as<EncoderObject>(self).use((__bridge void*)resource, access);
}
- (void)useResources:(const id<MTLResource>[])resources count:(NSUInteger)count usage:(MTLResourceUsage)usage {
  for (NSUInteger i = 0; i < count; ++i) [self useResource:resources[i] usage:usage];
}
- (void)useHeap:(id<MTLHeap>)heap {
}
- (void)useHeaps:(const id<MTLHeap>[])heaps count:(NSUInteger)count {
}
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier {
  EncoderObject& encoder = open(self, "sampleCountersInBuffer:atSampleIndex:withBarrier:");
  if (encoder.commands()) sample(*encoder.commands(), buffer, index);
}
@end

@interface MetalloidBlitEncoder : NSObject <MTLBlitCommandEncoder>
@end
@implementation MetalloidBlitEncoder {
  CommandBufferObject* commands;
  std::size_t number;
}
- (instancetype)forCommands:(id)buffer {
  commands = retain(&self_as<CommandBufferObject>(buffer));
  auto* counted = make_object<EncoderObject>(commands);
  count_encoder(*counted);
  number = counted->number;
  release(counted);
  return [self autorelease];
}
- (void)dealloc {
  release(commands);
  [super dealloc];
}
- (id<MTLDevice>)device {
  return (id)commands->device();
}
- (NSString*)label {
  return label_of(commands, number);
}
- (void)setLabel:(NSString*)label {
  set_label(commands, number, label);
}
- (void)endEncoding {
  commands->is_encoding = false;
}
- (void)insertDebugSignpost:(NSString*)text {
}
- (void)pushDebugGroup:(NSString*)name {
}
- (void)popDebugGroup {
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size {
  copy_memory(commands, (__bridge void*)source, sourceOffset, (__bridge void*)destination, destinationOffset, size);
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  fill_memory(commands, (__bridge void*)buffer, range.location, range.length, std::byte{value});
}
- (void)synchronizeResource:(id<MTLResource>)resource {
}
- (void)updateFence:(id<MTLFence>)fence {
}
- (void)waitForFence:(id<MTLFence>)fence {
}
- (void)optimizeContentsForGPUAccess:(id<MTLTexture>)texture {
}
- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
  [buffer resetWithRange:range];
}
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
}
@end

id<MTLBlitCommandEncoder> metalloid::metal::blit_encoder(id<MTLCommandBuffer> commands) {
  return [[MetalloidBlitEncoder alloc] forCommands:commands];
}
