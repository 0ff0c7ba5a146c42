#define PASTE(a, b) a##b
#define SPACE(n) __attribute__((PASTE(address_, space)(n)))
template <int N> using Segment = int SPACE(N)*;
typedef int __attribute__((__address_space__(257)))* thread_storage;
using Spelled = int [[_Clang::address_space(258)]] *;
using Listed = int <:<:using clang: noderef, address_space(256):>:> *;
struct [[nodiscard, gnu::packed, clang::address_space(257)]] S { int SPACE(257)* p; } __attribute__((ext_vector_type(4)));
kernel void f(device int* x) {
  *(Segment<257>)40 = x[0];
  _Complex float z = __real__ __imag__ x[1];
  x[2] = (*(thread_storage)0) + *(Spelled)0 + *(Listed)0;
  int __seg_fs* q = (int __vectorcall (*)())__builtin_frame_address(0);
}
__attribute__((annotate("metalloid." "kernel"), annotate("x", , )))) void g(__declspec(naked) int __ptr32* y) {}
_Pragma("clang attribute push(__attribute__((address_space(257))), apply_to = variable)")
