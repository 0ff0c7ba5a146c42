; What a turn of a loop brings to threadgroup memory is read behind the barrier of the turn before, or once more in the last
; one.
; RUN: read_ahead
; ARGUMENT: buffer
; ARGUMENT: threadgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[BEGIN:%.*]] = load i32, ptr addrspace(1) {{.*}}, !invariant.load
; CHECK: [[AHEAD:%.*]] = phi i32 [ [[BEGIN]], {{.*}} ], [ [[NEXT:%.*]], %body ]
; CHECK: [[I:%i.*]] = phi i32
; CHECK: store i32 [[AHEAD]], ptr addrspace(3) %tile
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK: [[GOES_ON:%.*]] = icmp ult i32
; CHECK: [[THEN:%.*]] = select i1 [[GOES_ON]], i32 {{.*}}, i32 [[I]]
; CHECK: [[NEXT]] = load i32, ptr addrspace(1) {{.*}}, !invariant.load
; CHECK: load i32, ptr addrspace(3) %tile

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %tile, i32 %n) {
entry:
  br label %test

test:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes.on = icmp ult i32 %i, %n
  br i1 %goes.on, label %body, label %end

body:
  %wide = zext i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  %v = load i32, ptr addrspace(1) %p, align 4, !invariant.load !0
  store i32 %v, ptr addrspace(3) %tile
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %w = load i32, ptr addrspace(3) %tile
  %more = add i32 %sum, %w
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %next = add i32 %i, 16
  br label %test

end:
  store i32 %sum, ptr addrspace(3) %tile
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
!0 = !{}
