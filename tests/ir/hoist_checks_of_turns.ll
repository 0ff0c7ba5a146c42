; An address that goes along by less than the counter does, or by what nobody knows, is checked in front of the loop for as
; many turns as there are.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane hoist_checks
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_lane(
; CHECK: [[TURNS:%.*]] = udiv i64 %{{.*}}, %{{.*}}
; CHECK: mul i64 [[TURNS]], 16
; CHECK: icmp ule i64 %step.i, 2147483647
; CHECK: br i1 %{{.*}}, label %[[INSIDE:.*]], label %[[OTHER:.*]]
; CHECK: [[INSIDE]]:
; CHECK-NOT: call void @metalloid_check_bounds(
; CHECK: [[OTHER]]:
; CHECK: call void @metalloid_check_bounds(
; CHECK: call void @metalloid_check_bounds(

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out) {
entry:
  %n = load i32, ptr addrspace(1) %out
  %step.place = getelementptr i8, ptr addrspace(1) %out, i64 8
  %step = load i64, ptr addrspace(1) %step.place
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %slow = phi ptr addrspace(1) [ %x, %entry ], [ %slow.next, %body ]
  %other = phi ptr addrspace(1) [ %x, %entry ], [ %other.next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes.on = icmp slt i32 %i, %n
  br i1 %goes.on, label %body, label %end
body:
  %a = load i32, ptr addrspace(1) %slow
  %b = load i32, ptr addrspace(1) %other
  %both = add i32 %a, %b
  %more = add i32 %sum, %both
  %slow.next = getelementptr i8, ptr addrspace(1) %slow, i64 16
  %other.next = getelementptr i8, ptr addrspace(1) %other, i64 %step
  %next = add i32 %i, 512
  br label %head
end:
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
