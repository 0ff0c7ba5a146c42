; The simdgroup and the lane come out of a thread's index, also where shifts and masks are LLVM's: a part of the
; simdgroup's number is the same in all lanes.
; RUN: lower_arguments_of_a_lane place_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_threadgroup

; CHECK-LABEL: @row(
; CHECK: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; CHECK-DAG: [[FIRST:%.*]] = and i32 %{{.*}}, -32
; CHECK-DAG: [[SHIFTED:%.*]] = lshr i32 [[FIRST]], 2
; CHECK: and i32 [[SHIFTED]], 1073741816
; CHECK: and i32 {{%.*}}, 3
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %index) {
  %moved = lshr i32 %index, 2
  %simdgroup = and i32 %moved, 1073741816
  %of_lane = and i32 %moved, 3
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %simdgroup
  store i32 %of_lane, ptr addrspace(1) %place
  ret void
}
