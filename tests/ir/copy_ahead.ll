; What a turn brings to a ring is copied by the GPU two turns ahead: aligned pieces without the thread, others by it.
; RUN: copy_ahead

; CHECK-LABEL: define void @kernel(
; CHECK: [[SECOND:%.*]] = icmp ult i32 {{.*}}, %n
; CHECK: [[LOW:%.*]] = and i64 {{.*}}, 15
; CHECK: [[ALIGNED:%.*]] = icmp eq i64 [[LOW]], 0
; CHECK: br i1 [[ALIGNED]]
; CHECK: call void @llvm.nvvm.cp.async.cg.shared.global.16(
; CHECK: [[PIECE:%.*]] = load <4 x i32>, ptr addrspace(1) {{.*}}, align 1
; CHECK: store <4 x i32> [[PIECE]], ptr addrspace(3) {{.*}}, align 1
; CHECK: call void @llvm.nvvm.cp.async.commit.group()
; CHECK: br i1 [[SECOND]]
; CHECK: call void @llvm.nvvm.cp.async.cg.shared.global.16(
; CHECK: call void @llvm.nvvm.cp.async.commit.group()
; CHECK: body:
; CHECK: call void @llvm.nvvm.cp.async.wait.group(i32 1)
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK: [[GOES_ON:%.*]] = and i1
; CHECK: br i1 [[GOES_ON]]
; CHECK: call void @llvm.nvvm.cp.async.cg.shared.global.16(
; CHECK: call void @llvm.nvvm.cp.async.commit.group()
; CHECK: load i32, ptr addrspace(3)

@metalloid_ring = external addrspace(3) global [0 x i8], align 16

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %n) {
entry:
  br label %body

body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %stage = phi i32 [ 0, %entry ], [ %stage.next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %is.last = icmp eq i32 %stage, 2
  %stage.more = add i32 %stage, 1
  %stage.next = select i1 %is.last, i32 0, i32 %stage.more
  %wide = zext i32 %stage to i64
  %offset = mul i64 %wide, 16
  %tile = getelementptr i8, ptr addrspace(3) @metalloid_ring, i64 %offset
  %p = getelementptr <4 x i32>, ptr addrspace(1) %x, i32 %i
  %v = load <4 x i32>, ptr addrspace(1) %p, align 16, !invariant.load !0
  store <4 x i32> %v, ptr addrspace(3) %tile, align 16
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %w = load i32, ptr addrspace(3) %tile
  %more = add i32 %sum, %w
  %next = add i32 %i, 1
  %goes.on = icmp ult i32 %next, %n
  br i1 %goes.on, label %body, label %end

end:
  store i32 %more, ptr addrspace(1) %out
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
!0 = !{}
