; A simdgroup leaves its vectors in its frame and returns at a barrier; another function goes on behind it.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen split_at_barriers
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: store <32 x i32> {{.*}}
; CHECK: ret void
; CHECK: define internal {{.*}}.simdgroup.resume(
; CHECK: load <32 x i32>
; CHECK: store <32 x i32> {{.*}}, ptr addrspace(1)
; CHECK: ret void
; CHECK-NOT: @metalloid_simdgroup_waits

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %position) convergent {
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  %own = load i32, ptr addrspace(1) %place
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent
  %more = add i32 %own, 1
  store i32 %more, ptr addrspace(1) %place
  ret void
}
