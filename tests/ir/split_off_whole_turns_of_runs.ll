; A loop from a number that grows with some bits of the lane's number only: turns in which no lane leaves come first, and
; the loop for the rest is there for some lanes alone.
; RUN: lower_arguments_of_a_lane place_lanes split_off_whole_turns
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define void @row(
; CHECK: br label %[[WHOLE:.*]].whole
; CHECK: [[REST:.*]]:{{ .*}}; preds = %[[WHOLE]].whole
; CHECK-NEXT: br label %[[TAIL:.*]]
; CHECK: [[TAIL]]:
; CHECK: br i1 {{.*}}, !metalloid.rest_of_turns
; CHECK: [[WHOLE]].whole:
; CHECK: call i64 @metalloid.simd.ballot(
; CHECK: br label %[[WHOLE]].whole

define void @kernel(ptr addrspace(1) %in, i32 %position) {
entry:
  %size = load i32, ptr addrspace(1) %in, align 4
  %first = lshr i32 %position, 1
  br label %header

header:
  %i = phi i32 [ %first, %entry ], [ %next, %body ]
  %sum = phi float [ 0.0, %entry ], [ %more, %body ]
  %stays = icmp ult i32 %i, %size
  br i1 %stays, label %body, label %end

body:
  %wide = zext i32 %i to i64
  %place = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %place, align 4
  %more = fadd float %sum, %value
  %next = add i32 %i, 16
  br label %header

end:
  %own = zext i32 %position to i64
  %out = getelementptr float, ptr addrspace(1) %in, i64 %own
  store float %sum, ptr addrspace(1) %out, align 4
  ret void
}
