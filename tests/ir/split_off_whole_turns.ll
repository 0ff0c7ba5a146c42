; A loop over a row, which lanes leave in the last turn: turns in which none leaves come first, for which the last lane's
; number is compared. A loop that lanes leave by what they read stays as it is.
; RUN: lower_arguments_of_a_lane place_lanes split_off_whole_turns
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define void @row(
; CHECK: br label %[[WHOLE:.*]].whole
; CHECK: [[REST:.*]]:{{ .*}}; preds = %[[WHOLE]].whole
; CHECK-NEXT: br label %[[TAIL:.*]]
; CHECK: [[TAIL]]:
; CHECK-NEXT: phi i32 [ [[I:%.*]], %[[REST]] ],
; CHECK: [[AGAIN:again.*]]:
; CHECK: [[WHOLE]].whole:
; CHECK-NEXT: [[I]] = phi i32
; CHECK: [[FIRST:%.*]] = call i32 @metalloid.simd.broadcast_first.b32(i32 [[I]])
; CHECK: [[LAST:%.*]] = add i32 [[FIRST]], 31
; CHECK: [[STAYS:%.*]] = icmp ult i32 [[LAST]], %size{{.*}}
; CHECK: [[GROWS:%.*]] = icmp ule i32 [[FIRST]], [[LAST]]
; CHECK: [[ALL:%.*]] = and i1 [[STAYS]], [[GROWS]]
; CHECK: br i1 [[ALL]], label %[[BODY:.*]].whole, label %[[REST]]
; CHECK: [[BODY]].whole:
; CHECK: br label %[[WHOLE]].whole
; CHECK-NOT: .whole:
; CHECK: }

define void @kernel(ptr addrspace(1) %in, i32 %position) {
entry:
  %size = load i32, ptr addrspace(1) %in, align 4
  br label %header

header:
  %i = phi i32 [ %position, %entry ], [ %next, %body ]
  %sum = phi float [ 0.0, %entry ], [ %more, %body ]
  %stays = icmp ult i32 %i, %size
  br i1 %stays, label %body, label %again

body:
  %wide = zext i32 %i to i64
  %place = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %value = load float, ptr addrspace(1) %place, align 4
  %more = fadd float %sum, %value
  %next = add i32 %i, 32
  br label %header

again:
  %j = phi i32 [ %position, %header ], [ %found, %search ]
  %index = zext i32 %j to i64
  %there = getelementptr i32, ptr addrspace(1) %in, i64 %index
  %found = load i32, ptr addrspace(1) %there, align 4
  %goes.on = icmp ult i32 %found, %size
  br i1 %goes.on, label %search, label %end

search:
  br label %again

end:
  %own = zext i32 %position to i64
  %out = getelementptr float, ptr addrspace(1) %in, i64 %own
  store float %sum, ptr addrspace(1) %out, align 4
  ret void
}
