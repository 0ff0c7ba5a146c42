; Two products that have the same right operand are the upper and the lower rows of one; of a chain of two the second adds
; to the first.
; RUN: join_products
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-DAG: [[B1:%.*]] = call <2 x half> @metalloid_columns.f16(<2 x half> %b1)
; CHECK-DAG: [[B2:%.*]] = call <2 x half> @metalloid_columns.f16(<2 x half> %b2)
; CHECK: [[RESULT:%.*]] = call {{.*}} @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half> %a1, <2 x half> %a3, <2 x half> %a2, <2 x half> %a4, <2 x half> [[B1]], <2 x half> [[B2]], float %{{.*}}, float %{{.*}}, float %{{.*}}, float %{{.*}})
; CHECK: extractvalue {{.*}} [[RESULT]], 0
; CHECK: extractvalue {{.*}} [[RESULT]], 3
; One that is alone: its lower rows are zero.
; CHECK: call {{.*}} @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half> %a1, <2 x half> zeroinitializer, <2 x half>
; CHECK-NOT: call {{.*}}@metalloid_product

define void @kernel(ptr addrspace(1) %x) {
entry:
  %a1 = load <2 x half>, ptr addrspace(1) %x
  %x.1 = getelementptr i8, ptr addrspace(1) %x, i64 4
  %a2 = load <2 x half>, ptr addrspace(1) %x.1
  %x.2 = getelementptr i8, ptr addrspace(1) %x, i64 8
  %a3 = load <2 x half>, ptr addrspace(1) %x.2
  %x.3 = getelementptr i8, ptr addrspace(1) %x, i64 12
  %a4 = load <2 x half>, ptr addrspace(1) %x.3
  %x.4 = getelementptr i8, ptr addrspace(1) %x, i64 16
  %b1 = load <2 x half>, ptr addrspace(1) %x.4
  %x.5 = getelementptr i8, ptr addrspace(1) %x, i64 20
  %b2 = load <2 x half>, ptr addrspace(1) %x.5
  %x.6 = getelementptr i8, ptr addrspace(1) %x, i64 24
  %c = load <2 x float>, ptr addrspace(1) %x.6
  %x.7 = getelementptr i8, ptr addrspace(1) %x, i64 32
  %d = load <2 x float>, ptr addrspace(1) %x.7
  %c1 = call <2 x float> @metalloid_product.f16(<2 x half> %a1, <2 x half> %b1, <2 x float> %c)
  %d1 = call <2 x float> @metalloid_product.f16(<2 x half> %a3, <2 x half> %b1, <2 x float> %d)
  %c2 = call <2 x float> @metalloid_product.f16(<2 x half> %a2, <2 x half> %b2, <2 x float> %c1)
  %d2 = call <2 x float> @metalloid_product.f16(<2 x half> %a4, <2 x half> %b2, <2 x float> %d1)
  store <2 x float> %c2, ptr addrspace(1) %x.6
  store <2 x float> %d2, ptr addrspace(1) %x.7
  %e = call <2 x float> @metalloid_product.f16(<2 x half> %a1, <2 x half> %a2, <2 x float> zeroinitializer)
  %x.8 = getelementptr i8, ptr addrspace(1) %x, i64 40
  store <2 x float> %e, ptr addrspace(1) %x.8
  ret void
}
declare <2 x float> @metalloid_product.f16(<2 x half>, <2 x half>, <2 x float>) convergent memory(none)
