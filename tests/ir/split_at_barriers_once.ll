; Where a loop around a barrier makes more of a simdgroup's code part of its start and of what is resumed than is allowed,
; it first returns in front of everything, so that all code is in one function.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen split_at_barriers_once
; RUN(TWICE): retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen split_at_barriers
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-NOT: mul <32 x i32>
; CHECK: ret void
; CHECK: define internal {{.*}}.simdgroup.resume(
; CHECK: mul <32 x i32>

; TWICE-LABEL: define {{.*}}void @row.simdgroup(
; TWICE: mul <32 x i32>
; TWICE: ret void
; TWICE: define internal {{.*}}.simdgroup.resume(
; TWICE: mul <32 x i32>

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %position) convergent {
entry:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  br label %loop

loop:
  %turn = phi i32 [ 0, %entry ], [ %next, %loop ]
  %value = load i32, ptr addrspace(1) %place
  %product = mul i32 %value, %position
  store i32 %product, ptr addrspace(1) %place
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent
  %next = add i32 %turn, 1
  %more = icmp ult i32 %next, 7
  br i1 %more, label %loop, label %end

end:
  ret void
}
