; As check_bounds_kept_pointers.ll: arguments are calls, behind what only threads inside of the grid come to.
; RUN: lower_arguments_of_a_gpu_at_edges check_bounds_of_a_gpu
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define ptx_kernel void @metalloid_kernel(
; CHECK: [[ROOTS:%of_two.*roots.*]] = alloca [2 x i32]
; CHECK: [[FIRST:%.*]] = getelementptr i32, ptr [[ROOTS]], i64 0
; CHECK: store i32 {{[01]}}, ptr [[FIRST]]
; CHECK: [[SECOND:%.*]] = getelementptr i32, ptr [[ROOTS]], i64 1
; CHECK-NEXT: store i32 {{[01]}}, ptr [[SECOND]]
; CHECK: %root = load i32, ptr
; CHECK: call void @metalloid_check_bounds(

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %i) {
  %of_two = alloca [2 x ptr addrspace(1)], align 8
  store ptr addrspace(1) %x, ptr %of_two, align 8
  %two.next = getelementptr i8, ptr %of_two, i64 8
  store ptr addrspace(1) %y, ptr %two.next, align 8
  %two.place = getelementptr ptr addrspace(1), ptr %of_two, i64 %i
  %two = load ptr addrspace(1), ptr %two.place, align 8
  store i32 7, ptr addrspace(1) %two, align 4
  ret void
}
