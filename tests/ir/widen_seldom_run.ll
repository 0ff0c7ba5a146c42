; Checks of one form share the function that looks for lanes outside; the set of lanes that take part is handed on as bits.
; RUN: retarget lower_arguments_of_a_lane check_bounds_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: call preserve_mostcc void @[[SOME:seldom.run.i64.i32.i64.ptr.ptr.i32.ptr.ptr.0]](i64 {{.*}}, i32 {{.*}}, i64 {{.*}}, ptr
; CHECK: call preserve_mostcc void @[[SOME]](i64
; CHECK: define internal preserve_mostcc void @[[SOME]](
; CHECK: call i32 @llvm.cttz.i32(
; CHECK: call i32 @llvm.ctlz.i32(
; CHECK: br i1 {{.*}}, label %end, label %each
; CHECK: call void @report.first.lane
; CHECK-NEXT: unreachable
; CHECK: end:
; CHECK-NEXT: ret void
; CHECK-NOT: @seldom.run.{{.*}}.1(

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
  %i = zext i32 %position to i64
  %odd = and i32 %position, 1
  %takes_part = icmp eq i32 %odd, 0
  br i1 %takes_part, label %some, label %end

some:
  %place = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %number = load i32, ptr addrspace(1) %place
  %other = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %number, ptr addrspace(1) %other
  br label %end

end:
  ret void
}
