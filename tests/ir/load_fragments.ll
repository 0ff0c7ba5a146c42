; What is one operand of a multiplication is read at once where rows are aligned; right operands by columns. What is not
; is turned.
; RUN: join_products load_fragments
; ARGUMENT: threadgroup
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK: [[LEFT:%.*]] = call {{.*}} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3)
; CHECK: [[RIGHT:%.*]] = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3)
; CHECK: movmatrix.sync.aligned.m8n8.trans.b16
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK-NOT: call {{.*}}@metalloid_

@tile = internal addrspace(3) global [1024 x half] undef, align 16

define void @kernel(ptr addrspace(3) %free, ptr addrspace(1) %out) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %in.row = and i32 %lane, 7
  %row.index = zext i32 %in.row to i64
  %row.offset = mul i64 %row.index, 48
  %own.offset = mul i64 %row.index, 4
  %p = getelementptr i8, ptr addrspace(3) @tile, i64 %own.offset
  %a.0 = load half, ptr addrspace(3) %p
  %p.1 = getelementptr i8, ptr addrspace(3) %p, i64 2
  %a.1 = load half, ptr addrspace(3) %p.1
  %a.half = insertelement <2 x half> poison, half %a.0, i64 0
  %a.elements = insertelement <2 x half> %a.half, half %a.1, i64 1
  %a.row = getelementptr i8, ptr addrspace(3) @tile, i64 %row.offset
  %a = call <2 x half> @metalloid_fragment.f16(<2 x half> %a.elements, ptr addrspace(3) %a.row, i1 false)
  %p.2 = getelementptr i8, ptr addrspace(3) %p, i64 512
  %b.elements = load <2 x half>, ptr addrspace(3) %p.2
  %b.row = getelementptr i8, ptr addrspace(3) %a.row, i64 512
  %b = call <2 x half> @metalloid_fragment.f16(<2 x half> %b.elements, ptr addrspace(3) %b.row, i1 false)
  %p.3 = getelementptr i8, ptr addrspace(3) %p, i64 768
  %c.elements = load <2 x half>, ptr addrspace(3) %p.3
  %c.row = getelementptr i8, ptr addrspace(3) %a.row, i64 768
  %c = call <2 x half> @metalloid_fragment.f16(<2 x half> %c.elements, ptr addrspace(3) %c.row, i1 false)
  %d.elements = load <2 x half>, ptr addrspace(3) %free
  %d = call <2 x half> @metalloid_fragment.f16(<2 x half> %d.elements, ptr addrspace(3) %free, i1 false)
  %ab = call <2 x float> @metalloid_product.f16(<2 x half> %a, <2 x half> %c, <2 x float> zeroinitializer)
  %bb = call <2 x float> @metalloid_product.f16(<2 x half> %b, <2 x half> %c, <2 x float> zeroinitializer)
  %sum = fadd <2 x float> %ab, %bb
  %all = call <2 x float> @metalloid_product.f16(<2 x half> %d, <2 x half> %d, <2 x float> %sum)
  store <2 x float> %all, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare <2 x half> @metalloid_fragment.f16(<2 x half>, ptr addrspace(3), i1) memory(none)
declare <2 x float> @metalloid_product.f16(<2 x half>, <2 x half>, <2 x float>) convergent memory(none)
