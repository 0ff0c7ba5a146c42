; Where threads never meet, the kernel becomes the inside of three loops over a threadgroup's threads.
; RUN: lower_arguments
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-NOT: @kernel
; CHECK-LABEL: define void @metalloid_run_threadgroup(ptr nonnull
; CHECK: load ptr addrspace(1), ptr
; CHECK: z.body:
; CHECK: y.body:
; CHECK: x.body:
; CHECK: [[X:%.*]] = phi i32 [ 0,
; CHECK: [[POSITION:%.*]] = add nuw i32 {{.*}}, [[X]]
; CHECK: store i32 [[POSITION]], ptr addrspace(1)
; CHECK: br i1 {{.*}}, label %x.end, label %x.body
; CHECK: br i1 {{.*}}, label %y.end, label %y.body
; CHECK: br i1 {{.*}}, label %z.end, label %z.body
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
  store i32 %position, ptr addrspace(1) %out
  ret void
}
