kernel void f(device int* x) __asm("system");
int trap() __asm("llvm.x86.int");
extern "C" int getpid() __asm("getpid");
long call(char vector) __asm("llvm.debugtrap");
kernel void g(device int* x) { x[0] = getpid() + trap(); __asm volatile("int3"); }
kernel void h(device long* x) { x[0] = (long)&__builtin_memcpy; x[1] = __builtin_ia32_rdtsc(); x[2] = __rdtsc(); }
