; A loop over an argument has two forms: one without checks, whose turns are counted, for what is all inside of the memory,
; and the one with checks. What the counter does not lead to keeps its check.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane hoist_checks
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @metalloid_lane(
; CHECK: [[LAST:%.*]] = sub i32 %{{.*}}, 1
; CHECK: [[SHORT:%.*]] = sub i32 [[LAST]], %{{.*}}
; CHECK: [[DISTANCE:%.*]] = zext i32 [[SHORT]] to i64
; CHECK: mul i64 [[DISTANCE]], 4
; CHECK: udiv i32
; CHECK: br i1 %{{.*}}, label %[[INSIDE:.*]], label %[[OTHER:.*]]
; CHECK: [[INSIDE]]:
; CHECK: [[TURN:%.*]] = phi i32 [ 0, %[[INSIDE]] ]
; CHECK: icmp ult i32 [[TURN]],
; CHECK-NOT: call
; CHECK: load i32, ptr addrspace(1)
; CHECK: call void @metalloid_check_bounds(
; CHECK-NEXT: load i32, ptr addrspace(1)
; CHECK: add nuw i32
; CHECK: [[OTHER]]:
; CHECK: call void @metalloid_check_bounds(
; CHECK-NEXT: load i32, ptr addrspace(1)
; CHECK: call void @metalloid_check_bounds(
; CHECK-NEXT: load i32, ptr addrspace(1)
; CHECK: ret void

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %position) {
entry:
  %n = load i32, ptr addrspace(1) %out
  %by.place = getelementptr i8, ptr addrspace(1) %out, i64 4
  %by = load i32, ptr addrspace(1) %by.place
  br label %head
head:
  %i = phi i32 [ %position, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes.on = icmp ult i32 %i, %n
  br i1 %goes.on, label %body, label %end
body:
  %wide = zext i32 %i to i64
  %place = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  %index = load i32, ptr addrspace(1) %place
  %wide.index = zext i32 %index to i64
  %other = getelementptr i32, ptr addrspace(1) %x, i64 %wide.index
  %value = load i32, ptr addrspace(1) %other
  %more = add i32 %sum, %value
  %next = add i32 %i, %by
  br label %head
end:
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
