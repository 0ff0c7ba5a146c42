; Products of floats are the exact chain, side by side. A lane's elements of an operand are fetched once for all products of
; a block.
; RUN: multiply_floats
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-COUNT-24: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK-COUNT-16: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1,
; CHECK-NOT: shfl
; CHECK: call float @llvm.fma.f32(
; CHECK-NOT: call {{.*}}@metalloid_product

define void @kernel(ptr addrspace(1) %x) {
entry:
  %a = load <2 x float>, ptr addrspace(1) %x
  %x.1 = getelementptr i8, ptr addrspace(1) %x, i64 8
  %b = load <2 x float>, ptr addrspace(1) %x.1
  %x.2 = getelementptr i8, ptr addrspace(1) %x, i64 16
  %c = load <2 x float>, ptr addrspace(1) %x.2
  %ab = call <2 x float> @metalloid_product.f32(<2 x float> %a, <2 x float> %b, <2 x float> zeroinitializer)
  store <2 x float> %ab, ptr addrspace(1) %x
  %ac = call <2 x float> @metalloid_product.f32(<2 x float> %a, <2 x float> %c, <2 x float> zeroinitializer)
  store <2 x float> %ac, ptr addrspace(1) %x.1
  ret void
}
declare <2 x float> @metalloid_product.f32(<2 x float>, <2 x float>, <2 x float>) convergent memory(none)
