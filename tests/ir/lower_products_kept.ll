; Products that are kept in memory right away, as frames do in front of a barrier, wait for each other, too; not beyond
; what may read that memory.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: store {{.*}} %out
; CHECK: call {{.*}} @metalloid.products.
; CHECK: store <64 x float> {{.*}}, ptr %out
; CHECK-NOT: @metalloid.products
; CHECK: store <64 x float> {{.*}}, ptr %other
; CHECK: load float, ptr %out
; CHECK: ret void

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(<64 x float> %a, <64 x float> %b, <64 x float> %c, ptr %out, ptr %other) {
  %one = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %a, <64 x float> %b)
  store <64 x float> %one, ptr %out
  %two = call <64 x float> @metalloid_matrix_product(<64 x float> splat (float 1.0), <64 x float> %a, <64 x float> %c)
  store <64 x float> %two, ptr %other
  %first = load float, ptr %out
  store float %first, ptr %other
  ret void
}
