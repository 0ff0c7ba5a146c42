; What is bound to a reference has the size of its type, so that a condition in a loop reads it in front of the loop.
; RUN: lower_arguments_of_a_lane optimise_lane
; ARGUMENT: buffer
; ARGUMENT: reference
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @metalloid_lane(
; CHECK: %argument1 = load ptr addrspace(2), ptr {{.*}}, !dereferenceable [[SIZE:![0-9]+]]
; CHECK: [[SECOND:%.*]] = load i32, ptr addrspace(2)
; CHECK: turn{{.*}}:
; CHECK: icmp ult i32 {{.*}}[[SECOND]]
; CHECK: ret void
; CHECK: [[SIZE]] = !{i64 8}

define void @kernel(ptr addrspace(1) %out, ptr addrspace(2) %sizes, i32 %position) {
entry:
  br label %turn

turn:
  %k = phi i32 [ 0, %entry ], [ %next, %meet ]
  %index = add i32 %position, %k
  %i = zext i32 %index to i64
  %place = getelementptr i32, ptr addrspace(1) %out, i64 %i
  %number = load i32, ptr addrspace(1) %place
  %is_odd = trunc i32 %number to i1
  br i1 %is_odd, label %ask, label %meet

ask:
  %size = getelementptr i8, ptr addrspace(2) %sizes, i64 4
  %second = load i32, ptr addrspace(2) %size, align 1, !invariant.load !0
  %is_less = icmp ult i32 %number, %second
  br i1 %is_less, label %write, label %meet

write:
  store i32 %k, ptr addrspace(1) %place
  br label %meet

meet:
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 100
  br i1 %again, label %turn, label %done

done:
  ret void
}

!0 = !{}
