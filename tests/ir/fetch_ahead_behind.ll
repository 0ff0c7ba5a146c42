; Behind the loop, what the first turn of the next threadgroup reads is asked for: of the one in the grid's next row at
; the end of a row. What is the same in all threadgroups is not.
; RUN: fetch_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: end:
; CHECK: [[X:%.*]] = add i32 {{.*}}, 1
; CHECK: [[ENDS:%.*]] = icmp eq i32 [[X]],
; CHECK: [[FURTHER:%.*]] = zext i1 [[ENDS]] to i32
; CHECK: [[NEXT:%.*]] = select i1 [[ENDS]], i32 0, i32 [[X]]
; CHECK: [[NEXT_Y:%.*]] = add i32 {{.*}}, [[FURTHER]]
; CHECK: [[ROW:%.*]] = mul i32 [[NEXT]], %n
; CHECK: [[WIDE:%.*]] = zext i32 [[ROW]] to i64
; CHECK: [[BEGIN:%.*]] = getelementptr i8, ptr addrspace(1) %in, i64 [[WIDE]]
; CHECK: [[PLACE:%.*]] = getelementptr [288 x i8], ptr addrspace(1) [[BEGIN]], i64 0
; CHECK: call void @llvm.prefetch.p1(ptr addrspace(1) [[PLACE]],
; CHECK-NOT: llvm.prefetch
; CHECK: ret void

define void @kernel(ptr %state, ptr addrspace(1) %in, i32 %n, i64 %turns) {
entry:
  %position = getelementptr i8, ptr %state, i64 52
  %x = load i32, ptr %position, align 4
  %row = mul i32 %x, %n
  %wide = zext i32 %row to i64
  %begin = getelementptr i8, ptr addrspace(1) %in, i64 %wide
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %more.too, %loop ]
  %place = getelementptr [288 x i8], ptr addrspace(1) %begin, i64 %i
  %one = load i64, ptr addrspace(1) %place, align 2
  %common = getelementptr [288 x i8], ptr addrspace(1) %in, i64 %i
  %two = load i64, ptr addrspace(1) %common, align 2
  %more = add i64 %sum, %one
  %more.too = add i64 %more, %two
  %next = add i64 %i, 1
  %is.last = icmp eq i64 %next, %turns
  br i1 %is.last, label %end, label %loop

end:
  store i64 %more.too, ptr addrspace(1) %in, align 8
  ret void
}
