; The threadgroups behind run in the same call: the position along x counts on, also where it is read with its neighbours,
; and what is the same for all is in front of the loop.
; RUN: run_threadgroups

; CHECK-LABEL: define void @kernel(
; CHECK: [[PLACE:%.*]] = getelementptr inbounds i8, ptr %state, i64 52
; CHECK: [[FIRST:%.*]] = load i32, ptr [[PLACE]]
; CHECK: [[COUNT:%.*]] = getelementptr inbounds i8, ptr %state, i64 144
; CHECK: [[BEHIND:%.*]] = load i32, ptr [[COUNT]]
; CHECK: [[LAST:%.*]] = add i32 [[FIRST]], [[BEHIND]]
; CHECK: %list = load ptr, ptr %state
; CHECK: %out = load ptr addrspace(1), ptr %list
; CHECK: threadgroup:
; CHECK: [[X:%.*]] = phi i32 [ [[FIRST]], %{{.*}} ], [ [[NEXT:%.*]], %next.threadgroup ]
; CHECK: %both = load <2 x i32>, ptr %position, align 4{{$}}
; CHECK: [[KNOWN:%.*]] = insertelement <2 x i32> %both, i32 [[X]], i64 0
; CHECK: %y = extractelement <2 x i32> [[KNOWN]], i64 1
; CHECK: %sum = add i32 [[X]], %y
; CHECK: store i32 %sum
; CHECK: [[ENDS:%.*]] = icmp eq i32 [[X]], [[LAST]]
; CHECK: br i1 [[ENDS]], label %done, label %next.threadgroup
; CHECK: next.threadgroup:
; CHECK: [[NEXT]] = add i32 [[X]], 1
; CHECK: store volatile i32 [[NEXT]], ptr [[PLACE]]
; CHECK: br label %threadgroup
; CHECK: done:
; CHECK: ret void

define void @kernel(ptr %state) {
entry:
  %list = load ptr, ptr %state, align 8, !invariant.load !0
  %out = load ptr addrspace(1), ptr %list, align 8, !invariant.load !0
  %position = getelementptr i8, ptr %state, i64 52
  %x = load i32, ptr %position, align 4, !invariant.load !0
  %both = load <2 x i32>, ptr %position, align 4, !invariant.load !0
  %y = extractelement <2 x i32> %both, i64 1
  %sum = add i32 %x, %y
  %wide = zext i32 %x to i64
  %place = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %sum, ptr addrspace(1) %place, align 4
  ret void
}

!0 = !{}
