; Which thread a lane is: in a row of threads only x differs, and by one from lane to lane; else a simdgroup goes on in
; the next row where one ends. The only thread of a threadgroup is at its beginning.
; RUN: lower_arguments_of_a_lane place_lanes
; RUN(HALF): lower_arguments_of_a_lane place_lanes_in_half_rows
; RUN(COLUMN): lower_arguments_of_a_lane place_lanes_in_a_column
; RUN(ANYWHERE): lower_arguments_of_a_lane place_lanes_anywhere
; RUN(ALONE): lower_arguments_of_a_lane place_lanes_alone
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define {{.*}}@row(ptr {{.*}}, i32 {{.*}}, i32 {{.*}}, i32 {{.*}}, i32
; CHECK: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; CHECK-NOT: {{urem|udiv}}
; CHECK: add {{.*}}[[LANE]]
; CHECK: ret void

; HALF: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; HALF: {{and|lshr}} i32 [[LANE]], {{15|4}}
; HALF: ret void

; COLUMN: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; COLUMN: getelementptr i32, ptr {{.*}}, i32 0
; COLUMN: ret void

; ANYWHERE: [[LANE:%.*]] = call i32 @metalloid_lane_number()
; ANYWHERE: [[THREAD:%.*]] = add {{.*}}[[LANE]]
; ANYWHERE: {{urem|udiv}} i32 [[THREAD]]
; ANYWHERE: ret void

; ALONE-NOT: @metalloid_lane_number
; ALONE: getelementptr i32, ptr {{.*}}, i32 0
; ALONE: store i32 0
; ALONE: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  store i32 %position, ptr addrspace(1) %place
  ret void
}
