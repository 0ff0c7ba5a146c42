; Pointers that are chosen, and pointers that move along a loop: what they lead to is chosen and moved beside them.
; Addresses out of memory are not checked, a lane's arrays are.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @metalloid_lane(
; CHECK-DAG: [[NAME:%.*]] = select i1 %which.i, ptr @{{.*}}, ptr @
; CHECK-DAG: [[BYTES:%.*]] = select i1 %which.i, i64 {{.*}}, i64
; CHECK: turn.i:
; CHECK: [[OFFSET:%.*]] = phi i64 [ 0, %{{.*}} ], [ [[NEXT:%.*]], %turn.i ]
; CHECK: call void @metalloid_check_bounds(i64 [[OFFSET]], i64 4, i64 [[BYTES]], ptr {{.*}}, ptr [[NAME]],
; CHECK: [[NEXT]] = add i64 [[OFFSET]], 4
; CHECK: kernel.exit:
; CHECK: call void @metalloid_check_bounds(i64 0, i64 8,
; CHECK-NOT: call void @metalloid_check_bounds({{.*}}, i64 1, i64
; CHECK: call void @metalloid_check_bounds(i64 {{.*}}, i64 2, i64 32,
; CHECK: ret void

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %position) {
entry:
  %own = alloca [16 x i16], align 2
  %which = icmp ult i32 %position, 7
  %chosen = select i1 %which, ptr addrspace(1) %x, ptr addrspace(1) %y
  br label %turn
turn:
  %at = phi ptr addrspace(1) [ %chosen, %entry ], [ %next, %turn ]
  %value = load i32, ptr addrspace(1) %at
  %next = getelementptr i8, ptr addrspace(1) %at, i64 4
  %goes_on = icmp ne i32 %value, 0
  br i1 %goes_on, label %turn, label %end
end:
  %address = load ptr addrspace(1), ptr addrspace(1) %x
  store i8 1, ptr addrspace(1) %address
  %place = getelementptr i16, ptr %own, i32 %position
  store i16 2, ptr %place
  ret void
}
