; Lanes that would come to different barriers are left to another engine.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ERROR unsupported: lanes of a simdgroup may come to different threadgroup barriers
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %position) convergent {
entry:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  %own = load i32, ptr addrspace(1) %place
  %way = icmp ugt i32 %own, 9
  br i1 %way, label %one, label %other
one:
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent
  store i32 1, ptr addrspace(1) %place
  br label %end
other:
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent
  br label %end
end:
  ret void
}
