; Rows of 80 bytes, each in four pieces: eight lanes that write at once take rows 0 and 4, not 0 and 1, whose pieces would
; meet in the same banks.
; RUN: order_copies

; CHECK-LABEL: define void @kernel(
; CHECK: [[INDEX:%.*]] = add i32 %rows.of.threads, %x
; CHECK: [[BEFORE:%.*]] = and i32 [[INDEX]], -32
; CHECK: and i32 [[INDEX]], 1
; CHECK: and i32 [[INDEX]], 2
; CHECK: [[THIRD:%.*]] = and i32 [[INDEX]], 4
; CHECK: [[FIFTH:%.*]] = shl i32 [[THIRD]], 2
; CHECK: [[OWN:%.*]] = or i32
; CHECK: lshr i32 [[LAST:%.*]], 2
; CHECK: and i32 [[LAST]], 3
; CHECK: [[VALUE:%.*]] = load <4 x i32>, ptr addrspace(1)
; CHECK: store <4 x i32> [[VALUE]], ptr addrspace(3)

; What comes of another thread's number, or is read by the lane in front of the barrier, stays.
; CHECK: [[KEPT:%.*]] = load <4 x i32>, ptr addrspace(1) %q
; CHECK-NEXT: store <4 x i32> [[KEPT]], ptr addrspace(3) %place
; CHECK-NEXT: load <4 x i32>, ptr addrspace(3) %place

@tile = internal addrspace(3) global [2560 x i8] undef, align 16

define void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %out) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %height = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %planes = mul i32 %z, %height
  %rows = add i32 %planes, %y
  %rows.of.threads = mul i32 %rows, %width
  %index = add i32 %rows.of.threads, %x
  %row = lshr i32 %index, 2
  %piece = and i32 %index, 3
  %across = shl i32 %piece, 4
  %down = mul i32 %row, 80
  %offset = add i32 %down, %across
  %place = getelementptr i8, ptr addrspace(3) @tile, i32 %offset
  %from = mul i32 %row, 4096
  %first = add i32 %from, %across
  %p = getelementptr i8, ptr addrspace(1) %a, i32 %first
  %v = load <4 x i32>, ptr addrspace(1) %p, align 16, !invariant.load !0
  store <4 x i32> %v, ptr addrspace(3) %place, align 16
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %read = load <4 x i32>, ptr addrspace(3) @tile
  store <4 x i32> %read, ptr addrspace(1) %out
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %q = getelementptr i8, ptr addrspace(1) %p, i32 64
  %w = load <4 x i32>, ptr addrspace(1) %q, align 16, !invariant.load !0
  store <4 x i32> %w, ptr addrspace(3) %place, align 16
  %own = load <4 x i32>, ptr addrspace(3) %place, align 16
  store <4 x i32> %own, ptr addrspace(1) %out
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare void @llvm.nvvm.bar.warp.sync(i32) convergent
declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
!0 = !{}
