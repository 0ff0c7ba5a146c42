; A loop that ends in its head has the products' order, not that of what stores its sums.
; RUN: keep_matrix_orders

; CHECK-LABEL: define void @kernel(
; CHECK: head:
; CHECK: [[SUM:%.*]] = phi <64 x float> [ zeroinitializer, %entry ], [ [[NEXT:%.*]], %loop ]
; CHECK: loop:
; CHECK: [[NEXT]] = call <64 x float> @metalloid_matrix_product(<64 x float> [[SUM]], <64 x float> %matrix, <64 x float> %matrix)
; CHECK: end:
; CHECK: [[ROW:%.*]] = shufflevector <64 x float> [[SUM]],
; CHECK: store <64 x float> [[ROW]]

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>)

define void @kernel(<64 x float> %matrix, ptr %out, ptr %count) {
entry:
  br label %head

head:
  %even = phi <32 x float> [ zeroinitializer, %entry ], [ %even.next, %loop ]
  %odd = phi <32 x float> [ zeroinitializer, %entry ], [ %odd.next, %loop ]
  %again = load volatile i1, ptr %count
  br i1 %again, label %loop, label %end

loop:
  %sum = shufflevector <32 x float> %even, <32 x float> %odd, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 2, i32 34, i32 3, i32 35, i32 4, i32 36, i32 5, i32 37, i32 6, i32 38, i32 7, i32 39, i32 8, i32 40, i32 9, i32 41, i32 10, i32 42, i32 11, i32 43, i32 12, i32 44, i32 13, i32 45, i32 14, i32 46, i32 15, i32 47, i32 16, i32 48, i32 17, i32 49, i32 18, i32 50, i32 19, i32 51, i32 20, i32 52, i32 21, i32 53, i32 22, i32 54, i32 23, i32 55, i32 24, i32 56, i32 25, i32 57, i32 26, i32 58, i32 27, i32 59, i32 28, i32 60, i32 29, i32 61, i32 30, i32 62, i32 31, i32 63>
  %product = call <64 x float> @metalloid_matrix_product(<64 x float> %sum, <64 x float> %matrix, <64 x float> %matrix)
  %even.next = shufflevector <64 x float> %product, <64 x float> poison, <32 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30, i32 32, i32 34, i32 36, i32 38, i32 40, i32 42, i32 44, i32 46, i32 48, i32 50, i32 52, i32 54, i32 56, i32 58, i32 60, i32 62>
  %odd.next = shufflevector <64 x float> %product, <64 x float> poison, <32 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31, i32 33, i32 35, i32 37, i32 39, i32 41, i32 43, i32 45, i32 47, i32 49, i32 51, i32 53, i32 55, i32 57, i32 59, i32 61, i32 63>
  br label %head

end:
  %both = shufflevector <32 x float> %even, <32 x float> %odd, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  store <64 x float> %both, ptr %out
  ret void
}
