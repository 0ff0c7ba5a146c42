// Variables for errors that nobody has set, and what Foundation's header brings of others.
#include <Foundation/Foundation.h>
#include <Metal/Metal.h>

#include "checking.h"

// What a variable on the stack may hold.
#define UNSET ((NSError*)(void*)0x10)

static void run(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSError* error = UNSET;
  id<MTLLibrary> library = [device newLibraryWithSource:@SAXPY_SOURCE options:nil error:&error];
  CHECK(library != nil && error == nil);
  error = UNSET;
  id<MTLFunction> function = [library newFunctionWithName:@"saxpy"
                                           constantValues:[[MTLFunctionConstantValues new] autorelease]
                                                    error:&error];
  CHECK(function != nil && error == nil);
  error = UNSET;
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
  CHECK(state != nil && error == nil);
  error = UNSET;
  MTLResidencySetDescriptor* descriptor = [[MTLResidencySetDescriptor new] autorelease];
  id<MTLResidencySet> set = [device newResidencySetWithDescriptor:descriptor error:&error];
  CHECK(set != nil && error == nil);
  error = UNSET;
  CHECK([device newLibraryWithSource:@"kernel" options:nil error:&error] == nil);
  CHECK(error != UNSET && [error localizedDescription].length > 0);
  [set release];
  [state release];
  [function release];
  [library release];
  [device release];
}

int main(void) {
  @autoreleasepool {
    run();
    int times = 7;
    int (^block)(void) = Block_copy(^{
      return times;
    });
    CHECK(block() == 7);
    Block_release(block);
    char* memory = NULL;
    CHECK(vm_allocate((vm_map_t)mach_task_self(), (void*)&memory, 1 << 16, VM_FLAGS_ANYWHERE) == KERN_SUCCESS);
    memory[0] = memory[65535] = 1;
    CHECK(vm_deallocate((vm_map_t)mach_task_self(), (vm_address_t)memory, 1 << 16) == KERN_SUCCESS);
  }
  puts("errors");
  return 0;
}
