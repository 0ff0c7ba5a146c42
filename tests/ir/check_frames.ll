; Variables of a function that stays a call have to fit onto a thread's stack.
; RUN: check_frames
; ERROR limit_exceeded: function 'large', which kernel 'kernel' calls, has too many variables: 8000 bytes, and at most 4096

define internal void @_Z5largev(ptr %p) noinline {
  %x = alloca [2000 x i32]
  store ptr %x, ptr %p
  ret void
}

define void @kernel(ptr addrspace(1) %out) {
  %v = alloca ptr
  call void @_Z5largev(ptr %v)
  ret void
}
