; Lanes that have returned take no part in what comes behind.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[GONE:%.*]] = icmp ugt <32 x i32>
; CHECK: call void @llvm.masked.store.v32i32.p1(<32 x i32> splat (i32 7), ptr addrspace(1) {{.*}}, <32 x i1> %
; CHECK: ret void
; CHECK-NOT: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
entry:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  %own = load i32, ptr addrspace(1) %place
  %is.over = icmp ugt i32 %own, 9
  br i1 %is.over, label %over, label %go.on
over:
  ret void
go.on:
  store i32 7, ptr addrspace(1) %place
  ret void
}
