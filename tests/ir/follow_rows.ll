; A row of lanes divides once, unless it goes over a multiple. What follows is there twice. What is known of the lanes
; that come there is not known of lane 0.
; RUN: lower_arguments_of_a_lane place_lanes follow_rows
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: @row(
; CHECK: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; CHECK: sub nuw i32 {{.*}}, %n
; CHECK: [[FIRST:%.*]] = sub i32 {{.*}}, %n
; CHECK: [[QUOTIENT:%.*]] = udiv i32 [[FIRST]], %length
; CHECK: [[REMAINDER:%.*]] = sub i32 [[FIRST]],
; CHECK: icmp ugt i32 {{.*}}, 31
; CHECK: icmp ule i32 [[FIRST]], -32
; CHECK: br i1 {{.*}}, label %[[ROW:.*]], label
; CHECK: urem i32
; CHECK: udiv i32
; CHECK: [[ROW]]:
; CHECK-NOT: {{urem|udiv}}
; CHECK: add nuw i32 [[REMAINDER]], [[LANE]]
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
  %n = load i32, ptr addrspace(1) %out
  %length = call i32 @llvm.umax.i32(i32 %n, i32 1)
  %index = sub nuw i32 %position, %n
  %remainder = urem i32 %index, %length
  %quotient = udiv i32 %index, %length
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %remainder
  store i32 %quotient, ptr addrspace(1) %place
  ret void
}

declare i32 @llvm.umax.i32(i32, i32)
