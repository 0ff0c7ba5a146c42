; Between barriers, what the next turn reads is asked for also where it lies rows further on, and where its index has 32
; bits. How long rows are may be loaded anew in each turn.
; RUN: fetch_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: loop:
; CHECK: [[ROWS:%.*]] = {{mul|shl}} {{.*}} %columns
; CHECK: [[AHEAD:%.*]] = getelementptr i8, ptr addrspace(1) %place, i64
; CHECK-NEXT: call void @llvm.prefetch.p1(ptr addrspace(1) [[AHEAD]], i32 0, i32 2, i32 1)
; CHECK-NEXT: load float, ptr addrspace(1) %place
; CHECK-NOT: llvm.prefetch
; CHECK: ret void

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %in, ptr addrspace(2) %size, ptr addrspace(3) %tile, i32 %thread, i32 %turns) {
entry:
  br label %loop

loop:
  %row = phi i32 [ 0, %entry ], [ %next, %loop ]
  %columns = load i32, ptr addrspace(2) %size, align 4, !invariant.load !0
  %start = mul i32 %row, %columns
  %index = add i32 %start, %thread
  %wide = zext i32 %index to i64
  %place = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %x = load float, ptr addrspace(1) %place, align 4
  store float %x, ptr addrspace(3) %tile
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1) convergent
  %next = add i32 %row, 16
  %again = icmp ult i32 %next, %turns
  br i1 %again, label %loop, label %end

end:
  ret void
}

!0 = !{}
