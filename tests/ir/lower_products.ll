; Products are calls of functions that take right operands from memory. What several products of a block share is put
; there once.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK: [[SLOT:%.*]] = alloca <64 x float>, align 64
; CHECK: call void @llvm.lifetime.start.p0(ptr [[SLOT]])
; CHECK: store <64 x float> %b, ptr [[SLOT]], align 64
; CHECK-NOT: store
; CHECK: [[ONCE:%.*]] = call {{.*}}<64 x float> @metalloid.products.1x1(<16 x float> {{.*}}, ptr [[SLOT]])
; CHECK: shufflevector <64 x float> [[ONCE]],
; CHECK: call {{.*}}<64 x float> @metalloid.products.1x1(<16 x float> {{.*}}, ptr [[SLOT]])
; CHECK: call void @llvm.lifetime.end.p0(ptr [[SLOT]])
; CHECK: ret void

; CHECK-NOT: @metalloid_matrix_product
; CHECK: define internal {{.*}}<64 x float> @metalloid.products.1x1(
; CHECK-COUNT-16: load <4 x float>
; CHECK-NOT: load
; CHECK: ret <64 x float>

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(<64 x float> %a, <64 x float> %b, ptr %out) {
  %once = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %a, <64 x float> %b)
  %twice = call <64 x float> @metalloid_matrix_product(<64 x float> %once, <64 x float> %a, <64 x float> %b)
  store <64 x float> %twice, ptr %out
  ret void
}
