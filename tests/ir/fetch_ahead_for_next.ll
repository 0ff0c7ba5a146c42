; A loop over a row asks for what the next threadgroup reads there, if that lies near enough to stay in a cache until
; then: the longest loop that goes through this memory. Not for what all threadgroups share.
; RUN: fetch_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: [[NEAR:%.*]] = icmp ule i64 [[BYTES:%.*]], 131072
; CHECK: [[ROW:%.*]] = icmp ule i64 4096, [[BYTES]]
; CHECK: [[BOTH:%.*]] = and i1 [[NEAR]], [[ROW]]
; CHECK: [[AHEAD:%.*]] = select i1 [[BOTH]], i64 [[BYTES]], i64 0
; CHECK: loop:
; CHECK: [[NEXT:%.*]] = getelementptr i8, ptr addrspace(1) %place, i64 [[AHEAD]]
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[NEXT]], i32 0, i32 2, i32 1)
; CHECK-NEXT: load float, ptr addrspace(1) %place
; CHECK-NOT: llvm.prefetch
; CHECK: ret void

define void @kernel(ptr %state, ptr addrspace(1) %in, ptr addrspace(1) %shared, ptr addrspace(1) %out, i64 %columns) {
entry:
  %position = getelementptr i8, ptr %state, i64 52
  %row = load i32, ptr %position, align 4
  %wide = zext i32 %row to i64
  %begin = mul i64 %wide, %columns
  %base = getelementptr float, ptr addrspace(1) %in, i64 %begin
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %place = getelementptr float, ptr addrspace(1) %base, i64 %i
  %one = load float, ptr addrspace(1) %place, align 4
  %weight = getelementptr float, ptr addrspace(1) %shared, i64 %i
  %two = load float, ptr addrspace(1) %weight, align 4
  %product = fmul float %one, %two
  %more = fadd float %sum, %product
  %next = add nuw nsw i64 %i, 1024
  %goes.on = icmp ult i64 %next, %columns
  br i1 %goes.on, label %loop, label %between

between:
  br label %again

again:
  %j = phi i64 [ 0, %between ], [ %after, %again ]
  %last = phi float [ %more, %between ], [ %least, %again ]
  %same = getelementptr float, ptr addrspace(1) %base, i64 %j
  %three = load float, ptr addrspace(1) %same, align 4
  %least = fsub float %last, %three
  %after = add nuw nsw i64 %j, 1024
  %goes.on.again = icmp ult i64 %after, %columns
  br i1 %goes.on.again, label %again, label %end

end:
  store float %least, ptr addrspace(1) %out, align 4
  ret void
}
