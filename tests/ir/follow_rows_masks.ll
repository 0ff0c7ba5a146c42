; What a mask leaves of an index without its low bits is the same for a row of lanes, also if the index grows by more than
; one from lane to lane, unless the row goes over a multiple.
; RUN: lower_arguments_of_a_lane place_lanes follow_rows
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: @row(
; CHECK: [[QUOTIENT:%.*]] = udiv i32 [[FIRST:%.*]], 128
; CHECK: [[MULTIPLE:%.*]] = mul i32 [[QUOTIENT]], 128
; CHECK: icmp ugt i32 {{.*}}, 124
; CHECK: icmp ule i32 [[FIRST]], -125
; CHECK: br i1 {{.*}}, label %[[ROW:.*]], label
; CHECK: and i32 {{.*}}, -128
; CHECK: [[ROW]]:
; CHECK-NOT: and i32
; CHECK: getelementptr i32, ptr addrspace(1) {{.*}}, i32 [[MULTIPLE]]
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
  %n = load i32, ptr addrspace(1) %out
  %index = add i32 %position, %n
  %scaled = shl i32 %index, 2
  %multiple = and i32 %scaled, -128
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %multiple
  store i32 %n, ptr addrspace(1) %place
  ret void
}
