; Where threads meet, the kernel becomes one thread at a position that it is told. Functions that stay are handed the
; thread's index.
; RUN: lower_arguments
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_run_thread(ptr nonnull %0, i32 %1, i32 %2, i32 %3)
; CHECK: [[INDEX:%.*]] = add nuw i32 %1,
; CHECK: call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
; CHECK: call i32 @kept(i32 [[INDEX]])
; CHECK: define internal i32 @kept(i32 %[[PARAMETER:.*]])
; CHECK: ret i32 %[[PARAMETER]]

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare i32 @metalloid.thread_index()

define internal i32 @kept() noinline {
  %i = call i32 @metalloid.thread_index()
  ret i32 %i
}

define void @kernel(ptr addrspace(1) %out) {
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %i = call i32 @kept()
  store i32 %i, ptr addrspace(1) %out
  ret void
}
