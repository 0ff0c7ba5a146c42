// Queues under load: commits from many threads, reserved places, events across queues and devices, handlers that commit,
// errors in the middle. Afterwards as many objects are alive as before.
#import <Metal/Metal.h>
#import <objc/runtime.h>

#include <atomic>
#include <thread>
#include <vector>

#include "checking.h"

namespace {

NSString* const source = @"#include <metal_stdlib>\nusing namespace metal;\n"
                          "kernel void append(device uint* log [[buffer(0)]], constant uint& what [[buffer(1)]]) {\n"
                          "  log[++log[0]] = what; }\n"
                          "kernel void add(device atomic_uint* sum [[buffer(0)]]) {\n"
                          "  atomic_fetch_add_explicit(sum, 1, memory_order_relaxed); }\n"
                          "kernel void outside(device uint* log [[buffer(0)]]) { log[1 << 20] = 1; }\n";

struct Fixture {
  id<MTLDevice> device;
  id<MTLComputePipelineState> append, add, outside;

  explicit Fixture(id<MTLDevice> of) : device(of) {
    NSError* error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    CHECK(library);
    append = made(library, @"append");
    add = made(library, @"add");
    outside = made(library, @"outside");
    [library release];
  }
  ~Fixture() {
    [append release];
    [add release];
    [outside release];
  }
  id<MTLComputePipelineState> made(id<MTLLibrary> library, NSString* name) {
    id<MTLFunction> function = [library newFunctionWithName:name];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:nil];
    [function release];
    CHECK(state);
    return state;
  }
};

void encode(id<MTLCommandBuffer> commands, id<MTLComputePipelineState> state, id<MTLBuffer> buffer, uint32_t what) {
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  encoder.label = [NSString stringWithFormat:@"encoder %u", what];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder setBytes:&what length:sizeof(what) atIndex:1];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
}

// Places are reserved in one order, and taken by threads in another.
void reserved(const Fixture& all) {
  id<MTLCommandQueue> queue = [all.device newCommandQueue];
  id<MTLBuffer> log = [all.device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  constexpr unsigned count = 64, threads = 8;
  std::vector<id<MTLCommandBuffer>> buffers;
  for (unsigned i = 0; i < count; ++i) {
    buffers.push_back([[queue commandBuffer] retain]);
    [buffers.back() enqueue];
  }
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      @autoreleasepool {
        for (unsigned i = count - 1 - t; i < count; i -= threads) {
          encode(buffers[i], all.append, log, i);
          [buffers[i] commit];
        }
      }
    });
  }
  [buffers.back() waitUntilCompleted];
  const auto* seen = static_cast<const uint32_t*>([log contents]);
  CHECK(seen[0] == count);
  for (unsigned i = 0; i < count; ++i) CHECK(seen[i + 1] == i && [buffers[i] status] == MTLCommandBufferStatusCompleted);
  for (std::thread& worker : workers) worker.join();
  for (id one : buffers) [one release];
  [log release];
  [queue release];
}

// Each thread has a queue, and each of its handlers commits the next buffer.
void handlers(const Fixture& all) {
  constexpr unsigned threads = 8, rounds = 20;
  id<MTLBuffer> sum = [all.device newBufferWithLength:64 options:MTLResourceStorageModeShared];
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      @autoreleasepool {
        id<MTLCommandQueue> queue = [all.device newCommandQueue];
        dispatch_semaphore_t done = dispatch_semaphore_create(0);
        __block unsigned left = rounds;
        __block void (^next)(void) = nil;
        next = ^{
          id<MTLCommandBuffer> commands = [queue commandBuffer];
          encode(commands, all.add, sum, 0);
          [commands addCompletedHandler:^(id<MTLCommandBuffer>) {
            --left ? next() : (void)dispatch_semaphore_signal(done);
          }];
          [commands commit];
        };
        next();
        dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
        dispatch_release(done);
        [queue release];
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(*static_cast<const uint32_t*>([sum contents]) == threads * rounds);
  [sum release];
}

// Two queues, of one device or of two, by turns; the host begins and is told of the end.
void events(const Fixture& one, const Fixture& other) {
  id<MTLSharedEvent> event = [one.device newSharedEvent];
  id<MTLCommandQueue> first = [one.device newCommandQueue], second = [other.device newCommandQueue];
  id<MTLBuffer> log = [one.device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  constexpr unsigned rounds = 20;
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  MTLSharedEventListener* listener = [[MTLSharedEventListener alloc] init];
  [event notifyListener:listener
                atValue:2 * rounds + 1
                  block:^(id<MTLSharedEvent> same, uint64_t value) {
                    CHECK([same signaledValue] >= value);
                    dispatch_semaphore_signal(told);
                  }];
  for (unsigned i = 0; i < 2 * rounds; ++i) {
    const bool is_first = i % 2 == 0;
    id<MTLCommandBuffer> commands = [is_first ? first : second commandBuffer];
    [commands encodeWaitForEvent:event value:i + 1];
    encode(commands, is_first ? one.append : other.append, log, i);
    [commands encodeSignalEvent:event value:i + 2];
    [commands commit];
  }
  CHECK(![event waitUntilSignaledValue:2 timeoutMS:20]);
  event.signaledValue = 1;
  CHECK([event waitUntilSignaledValue:2 * rounds + 1 timeoutMS:60000]);
  dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER);
  for (id<MTLCommandQueue> queue : {first, second}) {
    id<MTLCommandBuffer> last = [queue commandBuffer];
    [last commit];
    [last waitUntilCompleted];
  }
  const auto* seen = static_cast<const uint32_t*>([log contents]);
  CHECK(seen[0] == 2 * rounds);
  for (unsigned i = 0; i < 2 * rounds; ++i) CHECK(seen[i + 1] == i);
  dispatch_release(told);
  [listener release];
  [log release];
  [first release];
  [second release];
  [event release];
}

// A kernel that fails ends its command buffer, which names the encoder, and no other.
void errors(const Fixture& all) {
  id<MTLCommandQueue> queue = [all.device newCommandQueue];
  id<MTLBuffer> log = [all.device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  MTLCommandBufferDescriptor* descriptor = [[MTLCommandBufferDescriptor alloc] init];
  descriptor.errorOptions = MTLCommandBufferErrorOptionEncoderExecutionStatus;
  id<MTLCommandBuffer> failing = [queue commandBufferWithDescriptor:descriptor];
  encode(failing, all.append, log, 1);
  encode(failing, all.outside, log, 2);
  encode(failing, all.append, log, 3);
  [failing commit];
  id<MTLCommandBuffer> next = [queue commandBuffer];
  encode(next, all.append, log, 4);
  [next commit];
  [next waitUntilCompleted];
  CHECK([failing status] == MTLCommandBufferStatusError && [next status] == MTLCommandBufferStatusCompleted);
  NSError* error = [failing error];
  CHECK([[error domain] isEqual:MTLCommandBufferErrorDomain] && [error code] == MTLCommandBufferErrorPageFault);
  CHECK([[error localizedDescription] containsString:@"'outside'"]);
  NSArray* infos = [[error userInfo] objectForKey:MTLCommandBufferEncoderInfoErrorKey];
  CHECK([infos count] == 3 && [[infos[1] label] isEqual:@"encoder 2"]);
  CHECK([(id<MTLCommandBufferEncoderInfo>)infos[0] errorState] == MTLCommandEncoderErrorStateCompleted);
  CHECK([(id<MTLCommandBufferEncoderInfo>)infos[1] errorState] == MTLCommandEncoderErrorStateFaulted);
  CHECK([(id<MTLCommandBufferEncoderInfo>)infos[2] errorState] == MTLCommandEncoderErrorStatePending);
  const auto* seen = static_cast<const uint32_t*>([log contents]);
  CHECK(seen[0] == 2 && seen[1] == 1 && seen[2] == 4);
  [descriptor release];
  [log release];
  [queue release];
}

// What allocations take by themselves and as a set, which programs budget by.
void allocations(const Fixture& all) {
  id<MTLBuffer> large = [all.device newBufferWithLength:5 << 20 options:MTLResourceStorageModeShared];
  id<MTLBuffer> small = [all.device newBufferWithLength:100 options:MTLResourceStorageModePrivate];
  CHECK([large allocatedSize] == 5 << 20 && [small allocatedSize] == 16384);
  MTLHeapDescriptor* descriptor = [[MTLHeapDescriptor alloc] init];
  descriptor.size = 1 << 20;
  id<MTLHeap> heap = [all.device newHeapWithDescriptor:descriptor];
  id<MTLBuffer> part = [heap newBufferWithLength:1000 options:[heap resourceOptions]];
  CHECK([heap allocatedSize] == 1 << 20 && [part allocatedSize] == 1024);
  MTLResidencySetDescriptor* ofSet = [[MTLResidencySetDescriptor alloc] init];
  id<MTLResidencySet> set = [all.device newResidencySetWithDescriptor:ofSet error:nil];
  [set addAllocation:large];
  [set addAllocation:heap];
  [set commit];
  CHECK([set allocationCount] == 2 && [set allocatedSize] == 6 << 20);
  for (id one : {(id)set, (id)ofSet, (id)part, (id)heap, (id)descriptor, (id)small, (id)large}) [one release];
}

// Heaps, copies, what private memory is, commands that are written once, sizes out of a buffer.
void resources(const Fixture& all) {
  id<MTLDevice> device = all.device;
  id<MTLCommandQueue> queue = [device newCommandQueue];
  const NSUInteger before = [device currentAllocatedSize];
  MTLHeapDescriptor* descriptor = [[MTLHeapDescriptor alloc] init];
  descriptor.size = 4096;
  descriptor.storageMode = MTLStorageModeShared;
  id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
  CHECK([device currentAllocatedSize] == before + 4096 && [heap usedSize] == 0);
  id<MTLBuffer> a = [heap newBufferWithLength:1000 options:MTLResourceStorageModeShared];
  id<MTLBuffer> b = [heap newBufferWithLength:2000 options:MTLResourceStorageModeShared];
  CHECK(a && b && [b heap] == heap && [heap usedSize] == 1024 + 2048);
  CHECK([heap newBufferWithLength:2000 options:MTLResourceStorageModeShared] == nil);
  id<MTLBuffer> hidden = [device newBufferWithLength:1000 options:MTLResourceStorageModePrivate];
  CHECK([hidden contents] == nullptr && [hidden storageMode] == MTLStorageModePrivate);
  CHECK([device newBufferWithLength:10000000000000000000ull options:0] == nil);
  CHECK([device newBufferWithBytesNoCopy:nullptr length:4096 options:0 deallocator:nil] == nil);
  std::vector<char> odd(100, 0);  // no whole pages
  id<MTLBuffer> around = [device newBufferWithBytesNoCopy:odd.data() + 3 length:90 options:0 deallocator:nil];
  CHECK([around contents] == odd.data() + 3 && [around length] == 90);

  memset([a contents], 7, 1000);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit copyFromBuffer:a sourceOffset:0 toBuffer:hidden destinationOffset:0 size:1000];
  [blit fillBuffer:b range:NSMakeRange(0, 2000) value:1];
  [blit copyFromBuffer:hidden sourceOffset:0 toBuffer:b destinationOffset:100 size:500];
  [blit copyFromBuffer:hidden sourceOffset:0 toBuffer:around destinationOffset:1 size:89];
  [blit endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  const auto* bytes = static_cast<const unsigned char*>([b contents]);
  CHECK(bytes[99] == 1 && bytes[100] == 7 && bytes[599] == 7 && bytes[600] == 1);
  CHECK(odd[3] == 0 && odd[4] == 7 && odd[92] == 7 && odd[93] == 0);

  id<MTLBuffer> sum = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
  id<MTLBuffer> groups = [device newBufferWithLength:12 options:MTLResourceStorageModeShared];
  MTLIndirectCommandBufferDescriptor* indirect = [[MTLIndirectCommandBufferDescriptor alloc] init];
  indirect.inheritPipelineState = indirect.inheritBuffers = NO;
  indirect.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  id<MTLIndirectCommandBuffer> written = [device newIndirectCommandBufferWithDescriptor:indirect maxCommandCount:3 options:0];
  for (NSUInteger i = 0; i < 2; ++i) {
    id<MTLIndirectComputeCommand> command = [written indirectComputeCommandAtIndex:i];
    [command setComputePipelineState:all.add];
    [command setKernelBuffer:sum offset:0 atIndex:0];
    [command concurrentDispatchThreadgroups:MTLSizeMake(5, 1, 1) threadsPerThreadgroup:MTLSizeMake(2, 1, 1)];
  }
  commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder executeCommandsInBuffer:written withRange:NSMakeRange(0, 3)];
  [encoder setComputePipelineState:all.add];
  [encoder setBuffer:sum offset:0 atIndex:0];
  [encoder dispatchThreadgroupsWithIndirectBuffer:groups indirectBufferOffset:0 threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
  [encoder dispatchThreads:MTLSizeMake(0, 0, 0) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  const uint32_t sizes[] = {4, 2, 1};
  memcpy([groups contents], sizes, sizeof(sizes));  // read when its turn comes
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(*static_cast<const uint32_t*>([sum contents]) == 2 * 10 + 24);
  for (id one : {(id)around, (id)written, (id)indirect, (id)groups, (id)sum, (id)hidden, (id)a, (id)b, (id)descriptor, (id)queue}) {
    [one release];
  }
  CHECK([heap usedSize] == 0);
  [heap release];
  CHECK([device currentAllocatedSize] == before);
}

void everything() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSArray* devices = MTLCopyAllDevices();
  CHECK([devices count] >= 2 && devices[0] == device);
  {
    const Fixture first(device), second(devices[1]);
    reserved(first);
    handlers(first);
    events(first, first);
    events(first, second);
    errors(first);
    allocations(first);
    resources(first);
  }
  [devices release];
  [device release];
}

}  // namespace

int main() {
  @autoreleasepool {
    everything();
  }
  const size_t before = metalloid_live_objects();
  for (int i = 0; i < 3; ++i) {
    @autoreleasepool {
      everything();
    }
  }
  CHECK(metalloid_live_objects() == before);
  puts("queues");
  return 0;
}
