; Of a row where it begins is compared with what there is, less its length; of places anywhere all are. Only if that
; fails is it found out whether a lane takes part that is outside.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[LIMIT:%.*]] = call i64 @llvm.usub.sat.i64(i64 {{.*}}, i64 3)
; CHECK: [[ROWS:%.*]] = call i64 @llvm.usub.sat.i64(i64 [[LIMIT]], i64 124)
; CHECK: [[INSIDE:%.*]] = icmp ult i64 {{.*}}, [[ROWS]]
; CHECK: br i1 [[INSIDE]], label %inside, label %maybe.outside
; CHECK: inside:
; CHECK: load <32 x i32>, ptr addrspace(1)
; CHECK: icmp uge <32 x i32>
; CHECK: br i1
; CHECK: ret void
; CHECK: outside:
; CHECK: call void @[[REPORT:report.first.lane[0-9s.]*]](ptr {{.*}}, <32 x i64> {{.*}}, i64 4, i64 {{.*}}, ptr
; CHECK-NEXT: unreachable

; CHECK: define internal void @[[REPORT]](
; CHECK: [[LANE:%.*]] = call i32 @llvm.cttz.i32(
; CHECK: extractelement <32 x i64> {{.*}}, i32 [[LANE]]
; CHECK: call void @metalloid_report_bounds(
; CHECK-NEXT: unreachable

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
  %i = zext i32 %position to i64
  %place = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %index = load i32, ptr addrspace(1) %place
  %wide = zext i32 %index to i64
  %anywhere = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 1, ptr addrspace(1) %anywhere
  ret void
}
