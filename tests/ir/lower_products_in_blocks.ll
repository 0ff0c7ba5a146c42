; Products of two left operands with two right ones are one call, where the processor has the registers for it, and what
; goes on with their sums is the next one.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK: [[SUMS:%.*]] = call {{.*}} @metalloid.products.[[BLOCK:1x1|2x2]](
; CHECK: shufflevector {{.*}} [[SUMS]],
; CHECK: call {{.*}} @metalloid.products.[[BLOCK]](
; CHECK: ret void
; CHECK: define internal {{.*}} @metalloid.products.[[BLOCK]](

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(<64 x float> %a, <64 x float> %b, <64 x float> %c, <64 x float> %d, ptr %out) {
  %one = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %a, <64 x float> %c)
  %two = call <64 x float> @metalloid_matrix_product(<64 x float> splat (float 1.0), <64 x float> %a, <64 x float> %d)
  %three = call <64 x float> @metalloid_matrix_product(<64 x float> splat (float 2.0), <64 x float> %b, <64 x float> %c)
  %four = call <64 x float> @metalloid_matrix_product(<64 x float> splat (float 3.0), <64 x float> %b, <64 x float> %d)
  %five = call <64 x float> @metalloid_matrix_product(<64 x float> %one, <64 x float> %b, <64 x float> %d)
  %six = call <64 x float> @metalloid_matrix_product(<64 x float> %two, <64 x float> %b, <64 x float> %c)
  %seven = call <64 x float> @metalloid_matrix_product(<64 x float> %three, <64 x float> %a, <64 x float> %d)
  %eight = call <64 x float> @metalloid_matrix_product(<64 x float> %four, <64 x float> %a, <64 x float> %c)
  store <64 x float> %five, ptr %out
  %place.1 = getelementptr i8, ptr %out, i64 256
  store <64 x float> %six, ptr %place.1
  %place.2 = getelementptr i8, ptr %out, i64 512
  store <64 x float> %seven, ptr %place.2
  %place.3 = getelementptr i8, ptr %out, i64 768
  store <64 x float> %eight, ptr %place.3
  ret void
}
