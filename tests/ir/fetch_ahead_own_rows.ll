; A row with a step that each threadgroup has for itself is asked for as far ahead as the next threadgroup reads, where a
; worker runs several along x and that is near; else some turns ahead.
; RUN: fetch_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: [[COUNT:%.*]] = getelementptr inbounds i8, ptr %state, i64 76
; CHECK: [[IN_ROW:%.*]] = load i32, ptr [[COUNT]]
; CHECK: [[SEVERAL:%.*]] = icmp uge i32 [[IN_ROW]], 8
; CHECK: [[NEAR:%.*]] = icmp ule i64 [[BYTES:%.*]], 524288
; CHECK: [[ROW:%.*]] = icmp ule i64 288, [[BYTES]]
; CHECK: [[BOTH:%.*]] = and i1 [[NEAR]], [[ROW]]
; CHECK: [[NEXT:%.*]] = select i1 [[BOTH]], i64 [[BYTES]], i64 4608
; CHECK: [[AHEAD:%.*]] = select i1 [[SEVERAL]], i64 [[NEXT]], i64 4608
; CHECK: loop:
; CHECK: [[THERE:%.*]] = getelementptr i8, ptr addrspace(1) %place, i64 [[AHEAD]]
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[THERE]], i32 0, i32 2, i32 1)
; CHECK-NEXT: load i64, ptr addrspace(1) %place
; CHECK: [[FURTHER:%.*]] = getelementptr i8, ptr addrspace(1) %same, i64 4608
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[FURTHER]], i32 0, i32 3, i32 1)
; CHECK-NEXT: load i64, ptr addrspace(1) %same
; CHECK: ret void

define void @kernel(ptr %state, ptr addrspace(1) %in, ptr addrspace(1) %shared, ptr addrspace(1) %out, i64 %bytes) {
entry:
  %position = getelementptr i8, ptr %state, i64 52
  %row = load i32, ptr %position, align 4
  %wide = zext i32 %row to i64
  %begin = mul i64 %wide, %bytes
  %base = getelementptr i8, ptr addrspace(1) %in, i64 %begin
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more.again, %loop ]
  %place = getelementptr [288 x i8], ptr addrspace(1) %base, i64 %i
  %one = load i64, ptr addrspace(1) %place, align 2
  %same = getelementptr [288 x i8], ptr addrspace(1) %shared, i64 %i
  %two = load i64, ptr addrspace(1) %same, align 2
  %more = add i64 %sum, %one
  %more.again = add i64 %more, %two
  %next = add i64 %i, 1
  %is.last = icmp eq i64 %next, 16
  br i1 %is.last, label %end, label %loop

end:
  store i64 %more.again, ptr addrspace(1) %out, align 8
  ret void
}
