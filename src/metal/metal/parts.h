// What devices make, each in a file of its own.
#pragma once

#import <Metal/Metal.h>

#include "metalloid/metal/objects.h"

namespace metalloid::metal {

// encoders.mm: autoreleased
id<MTLBlitCommandEncoder> blit_encoder(id<MTLCommandBuffer> commands);

// heaps.mm
inline constexpr NSUInteger heap_alignment = 256;  // bytes
inline constexpr NSUInteger heap_size(NSUInteger length) {
  return (length + heap_alignment - 1) / heap_alignment * heap_alignment;
}
// Bytes from where a buffer begins that its kernels reach: Metal's buffers have whole pages, or lie amid others in a
// heap, and programs go on in these without knowing. MLX's scatters of half exchange words, and its products and ggml's
// triangular solver read rows that are not there.
std::size_t memory_size(std::size_t length);
// Whether kernels reach no further than lengths say: where accesses are checked, or Metal validates.
bool is_exact();
id<MTLHeap> new_heap(DeviceObject& device, MTLHeapDescriptor* descriptor);
id<MTLResidencySet> new_residency_set(id<MTLDevice> device, MTLResidencySetDescriptor* descriptor);

// events.mm
id<MTLFence> new_fence(id<MTLDevice> device);
id<MTLSharedEvent> new_event(id<MTLDevice> device);
const SharedEvent& event_of(id<MTLEvent> event);

// counters.mm
NSArray<id<MTLCounterSet>>* counter_sets();
MTLTimestamp timestamp();  // nanoseconds
id<MTLCounterSampleBuffer> new_sample_buffer(id<MTLDevice> device, MTLCounterSampleBufferDescriptor* descriptor,
                                             NSError** error);
void sample(CommandBufferObject& commands, id<MTLCounterSampleBuffer> buffer, NSUInteger index);

// logs.mm
id<MTLLogState> new_log_state(MTLLogStateDescriptor* descriptor);

// pipelines.mm: the descriptor may be nil.
id<MTLComputePipelineState> new_pipeline(id<MTLFunction> function, MTLComputePipelineDescriptor* descriptor,
                                         MTLAutoreleasedComputePipelineReflection* reflection, NSError** error);

// indirect_commands.mm
id<MTLIndirectCommandBuffer> new_indirect_command_buffer(id<MTLDevice> device,
                                                         MTLIndirectCommandBufferDescriptor* descriptor,
                                                         NSUInteger count);
void execute(EncoderObject& encoder, id<MTLIndirectCommandBuffer> buffer, NSRange range);

}  // namespace metalloid::metal
