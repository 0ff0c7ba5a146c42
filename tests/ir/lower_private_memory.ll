; Threads that meet keep their variables in memory of their own, each at its offset.
; RUN: lower_arguments lower_private_memory
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_run_thread(
; CHECK-NOT: alloca
; CHECK: [[SLOT:%.*]] = getelementptr {{.*}}, ptr %0, i64
; CHECK: [[BASE:%.*]] = load ptr, ptr [[SLOT]]
; CHECK: getelementptr {{.*}}ptr [[BASE]]
; CHECK: ret void

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out) {
  %small = alloca [4 x i32]
  %large = alloca [1000 x i32]
  store volatile i32 1, ptr %small
  store volatile i32 2, ptr %large
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %x = load volatile i32, ptr %small
  store i32 %x, ptr addrspace(1) %out
  ret void
}
