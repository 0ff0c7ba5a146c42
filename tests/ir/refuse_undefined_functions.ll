; RUN: refuse_unsupported
; ERROR unsupported: kernel 'kernel' calls 'read()': which has no definition

declare float @_Z4readv()

define void @kernel(ptr addrspace(1) %out) {
  %x = call float @_Z4readv()
  store float %x, ptr addrspace(1) %out
  ret void
}
