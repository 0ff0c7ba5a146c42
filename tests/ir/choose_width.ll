; Programs of numbers of 64 bits run with 16 lanes of a simdgroup at a time: rows and masks are of 16.
; RUN: lower_arguments_of_a_lane choose_width place_lanes simplify_control_flow widen
; RUN(SOME): lower_arguments_of_a_lane choose_width place_lanes_anywhere simplify_control_flow widen_some
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: and i32 %{{.*}}, -16
; CHECK: [[ROW:%.*]] = load <16 x i64>, ptr addrspace(1)
; CHECK: call <16 x i64> @llvm.masked.gather.v16i64.v16p1(
; CHECK: mul <16 x i64>
; CHECK: [[BITS:%.*]] = bitcast <16 x i1> {{%.*}} to i16
; CHECK: zext i16 [[BITS]] to i32
; CHECK: store <16 x i64> {{.*}}, ptr addrspace(1)
; CHECK: "metalloid.step_width"="16"

; SOME: icmp ult <16 x i32> <i32 0, i32 1, {{.*}} i32 15>,
; SOME: ret void

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
  %i = zext i32 %position to i64
  %row.place = getelementptr i64, ptr addrspace(1) %in, i64 %i
  %row = load i64, ptr addrspace(1) %row.place
  %anywhere.place = getelementptr i64, ptr addrspace(1) %in, i64 %row
  %anywhere = load i64, ptr addrspace(1) %anywhere.place
  %product = mul i64 %row, %anywhere
  %out.place = getelementptr i64, ptr addrspace(1) %out, i64 %i
  %is_large = icmp ugt i64 %product, 9
  br i1 %is_large, label %large, label %end

large:
  %smaller = sub i64 %product, 9
  store i64 %smaller, ptr addrspace(1) %in
  br label %end

end:
  store i64 %product, ptr addrspace(1) %out.place
  ret void
}
