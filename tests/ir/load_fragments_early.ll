; What is loaded behind the first multiplication comes with that one's operand, unless something is written between.
; RUN: join_products load_fragments
; ARGUMENT: threadgroup
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[LEFT:%.*]] = call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16.p3(ptr addrspace(3)
; CHECK: [[RIGHT:%.*]] = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3)
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK-NOT: ldmatrix
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK: store float
; CHECK: call i32 @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16.p3(ptr addrspace(3)
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
; CHECK-NOT: call {{.*}}@metalloid_

@tile = internal addrspace(3) global [1024 x half] undef, align 16

define void @kernel(ptr addrspace(3) %other, ptr addrspace(1) %out) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %in.row = and i32 %lane, 7
  %row.index = zext i32 %in.row to i64
  %row.offset = mul i64 %row.index, 48
  %own.offset = mul i64 %row.index, 4
  %p = getelementptr i8, ptr addrspace(3) @tile, i64 %own.offset
  %a.row = getelementptr i8, ptr addrspace(3) @tile, i64 %row.offset
  %a.elements = load <2 x half>, ptr addrspace(3) %p
  %a = call <2 x half> @metalloid_fragment.f16(<2 x half> %a.elements, ptr addrspace(3) %a.row, i1 false)
  %p.1 = getelementptr i8, ptr addrspace(3) %p, i64 512
  %b.elements = load <2 x half>, ptr addrspace(3) %p.1
  %b.row = getelementptr i8, ptr addrspace(3) %a.row, i64 512
  %b = call <2 x half> @metalloid_fragment.f16(<2 x half> %b.elements, ptr addrspace(3) %b.row, i1 false)
  %ab = call <2 x float> @metalloid_product.f16(<2 x half> %a, <2 x half> %b, <2 x float> zeroinitializer)
  %ab.0 = extractelement <2 x float> %ab, i64 0
  %p.2 = getelementptr i8, ptr addrspace(3) %p, i64 768
  %c.elements = load <2 x half>, ptr addrspace(3) %p.2
  %c.row = getelementptr i8, ptr addrspace(3) %a.row, i64 768
  %c = call <2 x half> @metalloid_fragment.f16(<2 x half> %c.elements, ptr addrspace(3) %c.row, i1 false)
  %ac = call <2 x float> @metalloid_product.f16(<2 x half> %a, <2 x half> %c, <2 x float> zeroinitializer)
  %ac.0 = extractelement <2 x float> %ac, i64 0
  store float %ab.0, ptr addrspace(3) %other
  %p.3 = getelementptr i8, ptr addrspace(3) %p, i64 1024
  %d.elements = load <2 x half>, ptr addrspace(3) %p.3
  %d.row = getelementptr i8, ptr addrspace(3) %a.row, i64 1024
  %d = call <2 x half> @metalloid_fragment.f16(<2 x half> %d.elements, ptr addrspace(3) %d.row, i1 false)
  %ad = call <2 x float> @metalloid_product.f16(<2 x half> %a, <2 x half> %d, <2 x float> zeroinitializer)
  %ad.0 = extractelement <2 x float> %ad, i64 0
  %sum = fadd float %ac.0, %ad.0
  store float %sum, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare <2 x half> @metalloid_fragment.f16(<2 x half>, ptr addrspace(3), i1) memory(none)
declare <2 x float> @metalloid_product.f16(<2 x half>, <2 x half>, <2 x float>) convergent memory(none)
