; Products wait for each other until a result is wanted. Two with one left operand are one call, where the processor has
; the registers for it: here two chains of two products, the second behind the first, and a rearrangement between them.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK: call {{.*}} @metalloid.products.[[COUNT:1x1|2x1|1x2]](
; CHECK: call {{.*}} @metalloid.products.[[COUNT]](
; CHECK: [[LOW:%.*]] = shufflevector <64 x float> {{.*}} <32 x i32>
; CHECK: store <32 x float> [[LOW]]
; CHECK-NOT: @metalloid.products
; CHECK: ret void
; CHECK: define internal {{.*}} @metalloid.products.[[COUNT]](

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(<64 x float> %a, <64 x float> %b, <64 x float> %c, <64 x float> %d, ptr %out) {
  %one = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %a, <64 x float> %b)
  %two = call <64 x float> @metalloid_matrix_product(<64 x float> %one, <64 x float> %d, <64 x float> %c)
  %low = shufflevector <64 x float> %two, <64 x float> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %three = call <64 x float> @metalloid_matrix_product(<64 x float> splat (float 1.0), <64 x float> %a, <64 x float> %c)
  %four = call <64 x float> @metalloid_matrix_product(<64 x float> %three, <64 x float> %d, <64 x float> %b)
  store <32 x float> %low, ptr %out
  store <64 x float> %four, ptr %out
  ret void
}
