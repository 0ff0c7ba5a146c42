; Loops that whole simdgroups meet in go the way without checks if all lanes of the simdgroup may.
; RUN: lower_arguments_of_a_gpu check_bounds_of_a_gpu hoist_checks_of_a_gpu
; ARGUMENT: buffer
; ARGUMENT: threadgroup

; CHECK-LABEL: define ptx_kernel void @metalloid_kernel(
; CHECK: [[ALL:%.*]] = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 {{.*}})
; CHECK: br i1 [[ALL]], label %[[INSIDE:.*]], label %[[CHECKED:.*]]
; CHECK-NOT: metalloid_check_bounds
; CHECK: barrier.cta.sync.all
; CHECK-NOT: metalloid_check_bounds
; CHECK: [[CHECKED]]:
; CHECK: call void @metalloid_check_bounds(
; CHECK: barrier.cta.sync.all

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %tile) {
entry:
  %n = load i32, ptr addrspace(3) %tile
  br label %test

test:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %goes.on = icmp ult i32 %i, %n
  br i1 %goes.on, label %body, label %end

body:
  %wide = zext i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  %v = load i32, ptr addrspace(1) %p
  store i32 %v, ptr addrspace(3) %tile
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %next = add i32 %i, 16
  br label %test

end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
