; What a loop reads at places that go on by the same step is asked for some turns before, and in front of the loop for its
; first turns: once for accesses that lie close, and not where lanes would share little (steps of more than 2 KiB) or
; processors follow by themselves (less than a line, memory that is not a buffer's).
; RUN: fetch_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: [[FIRST:%.*]] = getelementptr [288 x i8], ptr addrspace(1) %in, i64 0
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) [[FIRST]], i32 0, i32 3, i32 1)
; CHECK: [[SECOND:%.*]] = getelementptr i8, ptr addrspace(1) [[FIRST]], i64 288
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[SECOND]], i32 0, i32 3, i32 1)
; CHECK-COUNT-14: call void @llvm.prefetch
; CHECK-NOT: llvm.prefetch
; CHECK: loop:
; CHECK: [[AHEAD:%.*]] = getelementptr i8, ptr addrspace(1) %place, i64 4608
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[AHEAD]], i32 0, i32 3, i32 1)
; CHECK-NEXT: load i64, ptr addrspace(1) %place
; CHECK-NOT: llvm.prefetch
; CHECK: ret void

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %far, ptr addrspace(3) %own, i64 %turns) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more.again, %loop ]
  %place = getelementptr [288 x i8], ptr addrspace(1) %in, i64 %i
  %one = load i64, ptr addrspace(1) %place, align 2
  %behind = getelementptr i8, ptr addrspace(1) %place, i64 16
  %two = load i64, ptr addrspace(1) %behind, align 2
  %apart = getelementptr [8192 x i8], ptr addrspace(1) %far, i64 %i
  %three = load i64, ptr addrspace(1) %apart, align 2
  %near = getelementptr i64, ptr addrspace(1) %far, i64 %i
  %four = load i64, ptr addrspace(1) %near, align 8
  %shared = getelementptr [288 x i8], ptr addrspace(3) %own, i64 %i
  %five = load i64, ptr addrspace(3) %shared, align 8
  %more = add i64 %sum, %one
  %more.two = add i64 %more, %two
  %more.three = add i64 %more.two, %three
  %more.four = add i64 %more.three, %four
  %more.again = add i64 %more.four, %five
  %next = add i64 %i, 1
  %is.last = icmp eq i64 %next, %turns
  br i1 %is.last, label %end, label %loop

end:
  store i64 %more.again, ptr addrspace(1) %far, align 8
  ret void
}
