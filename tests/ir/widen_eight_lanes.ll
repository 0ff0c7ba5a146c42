; Of 8 lanes in step a place for each is gathered, too: as many runs of one element say no more.
; RUN: lower_arguments_of_a_lane place_lanes step_by_8 simplify_control_flow widen
; RUN(SOME): lower_arguments_of_a_lane place_lanes_anywhere step_by_8 simplify_control_flow widen_some
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[ROW:%.*]] = load <8 x i32>, ptr addrspace(1)
; CHECK: call <8 x i64> @llvm.masked.gather.v8i64.v8p1(
; CHECK-NOT: load <1 x i64>
; CHECK: call void @llvm.masked.scatter.v8i64.v8p1(
; CHECK: ret void

; SOME: call <8 x i64> @llvm.masked.gather.v8i64.v8p1(
; SOME-NOT: load <1 x i64>
; SOME: call void @llvm.masked.scatter.v8i64.v8p1(
; SOME: ret void

define void @kernel(ptr addrspace(1) %table, i32 %position) {
  %i = zext i32 %position to i64
  %row = getelementptr i32, ptr addrspace(1) %table, i64 %i
  %index = load i32, ptr addrspace(1) %row
  %place = getelementptr i64, ptr addrspace(1) %table, i32 %index
  %word = load i64, ptr addrspace(1) %place
  %more = add i64 %word, 1
  store i64 %more, ptr addrspace(1) %place
  ret void
}
