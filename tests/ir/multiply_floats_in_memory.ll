; Elements of floats that lanes have just read from threadgroup memory other lanes read there, too, sixteen bytes at once
; where rows lie so; what may have been written to since comes by shuffles. A matrix times itself is read by rows and by
; columns.
; RUN: multiply_floats
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NOT: shfl
; CHECK: load <4 x float>, ptr addrspace(3) {{%.*}}, align 16
; CHECK: load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: load <4 x float>, ptr addrspace(3) {{%.*}}, align 16
; CHECK-COUNT-4: load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: store volatile i32
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(
; CHECK-NOT: load <4 x float>
; CHECK-NOT: load <4 x float>
; CHECK: %d = load
; CHECK: [[ROW:%.*]] = load <4 x float>, ptr addrspace(3) {{%.*}}, align 16
; CHECK: extractelement <4 x float> [[ROW]], i64 0
; CHECK: [[COLUMNS:%.*]] = load <2 x float>, ptr addrspace(3) {{%.*}}, align 8
; CHECK: extractelement <2 x float> [[COLUMNS]], i64 0
; CHECK: extractelement <2 x float> [[COLUMNS]], i64 1
; CHECK-NOT: call {{.*}}@metalloid_float_fragment

@p = internal addrspace(3) global [1024 x float] poison, align 16

define void @kernel(ptr addrspace(1) %x) {
entry:
  %own = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %a.place = getelementptr <2 x float>, ptr addrspace(3) @p, i32 %own
  %b.first = getelementptr i8, ptr addrspace(3) @p, i64 1024
  %b.place = getelementptr <2 x float>, ptr addrspace(3) %b.first, i32 %own
  %a.elements = load <2 x float>, ptr addrspace(3) %a.place
  %a = call <2 x float> @metalloid_float_fragment.f32(<2 x float> %a.elements, ptr addrspace(3) @p, i64 8, i1 false)
  %b.elements = load <2 x float>, ptr addrspace(3) %b.place
  %b = call <2 x float> @metalloid_float_fragment.f32(<2 x float> %b.elements, ptr addrspace(3) %b.first, i64 8, i1 false)
  %ab = call <2 x float> @metalloid_product.f32(<2 x float> %a, <2 x float> %b, <2 x float> zeroinitializer)
  store <2 x float> %ab, ptr addrspace(1) %x
  %c.elements = load <2 x float>, ptr addrspace(3) %a.place
  %c = call <2 x float> @metalloid_float_fragment.f32(<2 x float> %c.elements, ptr addrspace(3) @p, i64 8, i1 false)
  store volatile i32 0, ptr addrspace(3) @p
  %cb = call <2 x float> @metalloid_product.f32(<2 x float> %c, <2 x float> %b, <2 x float> zeroinitializer)
  store <2 x float> %cb, ptr addrspace(1) %x
  %d = load <2 x float>, ptr addrspace(3) %a.place
  %dm = call <2 x float> @metalloid_float_fragment.f32(<2 x float> %d, ptr addrspace(3) @p, i64 8, i1 false)
  %dd = call <2 x float> @metalloid_product.f32(<2 x float> %dm, <2 x float> %dm, <2 x float> zeroinitializer)
  store <2 x float> %dd, ptr addrspace(1) %x
  ret void
}
declare <2 x float> @metalloid_float_fragment.f32(<2 x float>, ptr addrspace(3), i64, i1) memory(none)
declare <2 x float> @metalloid_product.f32(<2 x float>, <2 x float>, <2 x float>) convergent memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
