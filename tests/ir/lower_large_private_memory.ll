; Where threads run one after the other, variables leave the stack once they are large.
; RUN: lower_arguments lower_large_private_memory

; CHECK-LABEL: define void @metalloid_run_threadgroup(
; CHECK-NOT: alloca
; CHECK: load ptr, ptr
; CHECK-NOT: alloca
; CHECK: ret void
; ARGUMENT: buffer

define void @kernel(ptr addrspace(1) %out) {
  %small = alloca [4 x i32]
  store volatile i32 1, ptr %small
  %large = alloca [1000000 x i32]
  store volatile i32 2, ptr %large
  %x = load volatile i32, ptr %small
  store i32 %x, ptr addrspace(1) %out
  ret void
}
