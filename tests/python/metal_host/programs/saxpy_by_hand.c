// C that sends messages by hand, as Halide's runtime does, and reads 32 bits of a BOOL, as tinygrad does.
#include <objc/message.h>
#include <objc/runtime.h>
#include <string.h>

#include "checking.h"

typedef struct {
  unsigned long width, height, depth;
} Size;
id MTLCreateSystemDefaultDevice(void);

#define SEND(type, ...) ((type(*)(id, SEL, ##__VA_ARGS__))objc_msgSend)

int main(void) {
  id device = MTLCreateSystemDefaultDevice();
  SEL text_of = sel_registerName("stringWithUTF8String:");
  Class strings = objc_getClass("NSString");
  id source = SEND(id, const char*)((id)strings, text_of, SAXPY_SOURCE);
  id error = NULL;
  id library = SEND(id, id, id, id*)(device, sel_registerName("newLibraryWithSource:options:error:"), source, NULL, &error);
  CHECK(library);
  id name = SEND(id, const char*)((id)strings, text_of, "saxpy");
  id function = SEND(id, id)(library, sel_registerName("newFunctionWithName:"), name);
  id state = SEND(id, id, id*)(device, sel_registerName("newComputePipelineStateWithFunction:error:"), function, &error);
  id queue = SEND(id)(device, sel_registerName("newCommandQueue"));
  SEL new_buffer = sel_registerName("newBufferWithLength:options:"), contents = sel_registerName("contents");
  id x = SEND(id, unsigned long, unsigned long)(device, new_buffer, 400, 0);
  id y = SEND(id, unsigned long, unsigned long)(device, new_buffer, 400, 0);
  float* of_x = SEND(float*)(x, contents);
  float* of_y = SEND(float*)(y, contents);
  for (int i = 0; i < 100; ++i) of_x[i] = i;
  id commands = SEND(id)(queue, sel_registerName("commandBuffer"));
  id encoder = SEND(id)(commands, sel_registerName("computeCommandEncoder"));
  SEND(void, id)(encoder, sel_registerName("setComputePipelineState:"), state);
  SEL set_buffer = sel_registerName("setBuffer:offset:atIndex:");
  SEND(void, id, unsigned long, unsigned long)(encoder, set_buffer, y, 0, 0);
  SEND(void, id, unsigned long, unsigned long)(encoder, set_buffer, x, 0, 1);
  const float a = 3;
  SEND(void, const void*, unsigned long, unsigned long)(encoder, sel_registerName("setBytes:length:atIndex:"), &a, 4, 2);
  // Structures by value, on the stack.
  SEND(void, Size, Size)(encoder, sel_registerName("dispatchThreadgroups:threadsPerThreadgroup:"), (Size){10, 1, 1}, (Size){10, 1, 1});
  SEND(void)(encoder, sel_registerName("endEncoding"));
  SEND(void)(commands, sel_registerName("commit"));
  SEND(void)(commands, sel_registerName("waitUntilCompleted"));
  for (int i = 0; i < 100; ++i) CHECK(of_y[i] == 3.0f * i);
#ifdef __x86_64__
  Size most = ((Size(*)(id, SEL))objc_msgSend_stret)(device, sel_registerName("maxThreadsPerThreadgroup"));
  CHECK(((double (*)(id, SEL))objc_msgSend_fpret)(commands, sel_registerName("GPUEndTime")) > 0);
#else
  Size most = SEND(Size)(device, sel_registerName("maxThreadsPerThreadgroup"));
#endif
  CHECK(most.width == 1024 && most.depth == 1024);
  const int has_own_memory = strcmp(getenv("METALLOID_DEVICE"), "trial") == 0;
  CHECK((SEND(int)(device, sel_registerName("hasUnifiedMemory"))) == !has_own_memory);
  CHECK((SEND(int)(device, sel_registerName("isRemovable"))) == 0);
  CHECK((SEND(int, long)(device, sel_registerName("supportsFamily:"), 5001)) == 1);
  CHECK((SEND(int, id)(name, sel_registerName("isEqualToString:"), source)) == 0);
  CHECK(objc_lookUpClass("NoSuchClass") == NULL);
  CHECK(SEND(id)(NULL, contents) == NULL);
  puts("saxpy by hand");
  return 0;
}
