; Where threads run one after the other, small variables stay on the stack.
; RUN: lower_arguments lower_large_private_memory

; CHECK-LABEL: define void @metalloid_run_threadgroup(
; CHECK: alloca [4 x i32]
; CHECK: ret void
; ARGUMENT: buffer

define void @kernel(ptr addrspace(1) %out) {
  %small = alloca [4 x i32]
  store volatile i32 1, ptr %small
  %x = load volatile i32, ptr %small
  store i32 %x, ptr addrspace(1) %out
  ret void
}
