; Of a row where it begins is compared with what there is, less its length; of places anywhere all are. Only if that
; fails is it found out, by a function, whether a lane takes part that is outside.
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
; CHECK: maybe.outside{{.*}}:
; CHECK-NEXT: call {{.*}}void @[[ROW:seldom.run.i64.i64.ptr.ptr.i32.ptr.ptr.0]](i64 %place.i.idx, i64 %bytes
; CHECK-NEXT: br label %inside
; CHECK: maybe.outside{{.*}}:
; CHECK: call {{.*}}void @[[VECTOR:"seldom.run.i64.ptr.<32 x i64>.ptr.i32.ptr.ptr.0"]](i64 %bytes1, {{.*}}, <32 x i64> {{.*}}, ptr
; CHECK-NEXT: br label %inside

; CHECK: define internal void @[[REPORT:report.first.lane[0-9s.]*]](
; CHECK: [[LANE:%.*]] = call i32 @llvm.cttz.i32(
; CHECK: extractelement <32 x i64> {{.*}}, i32 [[LANE]]
; CHECK: call void @metalloid_report_bounds(
; CHECK-NEXT: unreachable
; CHECK: define internal {{.*}}void @[[ROW]](
; CHECK: call void @[[REPORT]](ptr {{.*}}, <32 x i64> {{.*}}, i64 4, i64 {{.*}}, ptr
; CHECK-NEXT: unreachable
; CHECK: ret void
; CHECK: define internal {{.*}}void @[[VECTOR]](

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
  %i = zext i32 %position to i64
  %place = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %index = load i32, ptr addrspace(1) %place
  %wide = zext i32 %index to i64
  %anywhere = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 1, ptr addrspace(1) %anywhere
  ret void
}
