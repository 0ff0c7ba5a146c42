// Adds to numbers by the default library, which lies beside the program, by its URL, and by its bytes.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

static int run(id<MTLDevice> device, id<MTLLibrary> library, NSError* error) {
  id<MTLFunction> function = [library newFunctionWithName:@"add"];
  id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
  if (!state) {
    printf("no state: %s\n", [[error localizedDescription] UTF8String]);
    return 1;
  }
  float numbers[100];
  for (int i = 0; i < 100; ++i) numbers[i] = i;
  id<MTLBuffer> buffer = [device newBufferWithBytes:numbers length:sizeof numbers options:MTLResourceStorageModeShared];
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(100, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  for (int i = 0; i < 100; ++i) {
    if (((float*)[buffer contents])[i] != i + 5) return 1;
  }
  return 0;
}

int main(int count, char** arguments) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError* error = nil;
    if (count > 1) {
      NSString* path = [NSString stringWithUTF8String:arguments[1]];
      id<MTLLibrary> library = [device newLibraryWithURL:[NSURL fileURLWithPath:path] error:&error];
      if (!library) {
        printf("%s %ld: %s\n", [[error domain] UTF8String], (long)[error code],
               [[error localizedDescription] UTF8String]);
        return 2;
      }
      if (run(device, library, error) != 0) return 1;
      NSData* bytes = [NSData dataWithContentsOfFile:path];
      dispatch_data_t data =
          dispatch_data_create([bytes bytes], [bytes length], NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
      id<MTLLibrary> again = [device newLibraryWithData:data error:&error];
      if (!again || run(device, again, error) != 0) return 1;
      printf("%s\n", [[[[again functionNames] sortedArrayUsingSelector:@selector(compare:)]
                         componentsJoinedByString:@" "] UTF8String]);
      return 0;
    }
    id<MTLLibrary> library = [device newDefaultLibrary];
    if (!library) return 3;
    const int code = run(device, library, nil);
    printf("%s %d\n", code == 0 ? "added" : "wrong", IS_APPLE);
    return code;
  }
}
