; Matrices keep the order that products want: in memory's rows, around a loop, and from product to product.
; RUN: keep_matrix_orders

; CHECK-LABEL: define void @kernel(
; CHECK: entry:
; CHECK: [[ALL:%.*]] = load <64 x float>, ptr %rows
; CHECK: loop:
; CHECK: [[SUM:%.*]] = phi <64 x float> [ [[LAST:%.*]], %loop ], [ zeroinitializer, %entry ]
; CHECK: [[TILES:%.*]] = shufflevector <64 x float> [[ALL]], <64 x float> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8,
; CHECK: [[NEXT:%.*]] = call <64 x float> @metalloid_matrix_product(<64 x float> [[SUM]], <64 x float> [[TILES]], <64 x float> [[ALL]])
; CHECK: [[LAST]] = call <64 x float> @metalloid_matrix_product(<64 x float> [[NEXT]], <64 x float> [[TILES]], <64 x float> [[ALL]])
; CHECK: end:
; CHECK: [[ROW:%.*]] = shufflevector <64 x float> [[LAST]], <64 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19>
; CHECK-NEXT: store <8 x float> [[ROW]]

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>)

define void @kernel(ptr %rows, ptr %out, i1 %again) {
entry:
  %even.slot = alloca <32 x float>
  %odd.slot = alloca <32 x float>
  %all = load <64 x float>, ptr %rows
  ; As a load gives them to lanes: even columns, odd columns.
  %even = shufflevector <64 x float> %all, <64 x float> poison, <32 x i32> <i32 0, i32 2, i32 8, i32 10, i32 16, i32 18, i32 24, i32 26, i32 4, i32 6, i32 12, i32 14, i32 20, i32 22, i32 28, i32 30, i32 32, i32 34, i32 40, i32 42, i32 48, i32 50, i32 56, i32 58, i32 36, i32 38, i32 44, i32 46, i32 52, i32 54, i32 60, i32 62>
  %odd = shufflevector <64 x float> %all, <64 x float> poison, <32 x i32> <i32 1, i32 3, i32 9, i32 11, i32 17, i32 19, i32 25, i32 27, i32 5, i32 7, i32 13, i32 15, i32 21, i32 23, i32 29, i32 31, i32 33, i32 35, i32 41, i32 43, i32 49, i32 51, i32 57, i32 59, i32 37, i32 39, i32 45, i32 47, i32 53, i32 55, i32 61, i32 63>
  store <32 x float> zeroinitializer, ptr %even.slot
  store <32 x float> zeroinitializer, ptr %odd.slot
  br label %loop

loop:
  %even.sum = load <32 x float>, ptr %even.slot
  %odd.sum = load <32 x float>, ptr %odd.slot
  %left = shufflevector <32 x float> %even, <32 x float> %odd, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 2, i32 34, i32 3, i32 35, i32 4, i32 36, i32 5, i32 37, i32 6, i32 38, i32 7, i32 39, i32 8, i32 40, i32 9, i32 41, i32 10, i32 42, i32 11, i32 43, i32 12, i32 44, i32 13, i32 45, i32 14, i32 46, i32 15, i32 47, i32 16, i32 48, i32 17, i32 49, i32 18, i32 50, i32 19, i32 51, i32 20, i32 52, i32 21, i32 53, i32 22, i32 54, i32 23, i32 55, i32 24, i32 56, i32 25, i32 57, i32 26, i32 58, i32 27, i32 59, i32 28, i32 60, i32 29, i32 61, i32 30, i32 62, i32 31, i32 63>
  %right = shufflevector <32 x float> %even, <32 x float> %odd, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 8, i32 40, i32 9, i32 41, i32 2, i32 34, i32 3, i32 35, i32 10, i32 42, i32 11, i32 43, i32 4, i32 36, i32 5, i32 37, i32 12, i32 44, i32 13, i32 45, i32 6, i32 38, i32 7, i32 39, i32 14, i32 46, i32 15, i32 47, i32 16, i32 48, i32 17, i32 49, i32 24, i32 56, i32 25, i32 57, i32 18, i32 50, i32 19, i32 51, i32 26, i32 58, i32 27, i32 59, i32 20, i32 52, i32 21, i32 53, i32 28, i32 60, i32 29, i32 61, i32 22, i32 54, i32 23, i32 55, i32 30, i32 62, i32 31, i32 63>
  %sum = shufflevector <32 x float> %even.sum, <32 x float> %odd.sum, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 2, i32 34, i32 3, i32 35, i32 4, i32 36, i32 5, i32 37, i32 6, i32 38, i32 7, i32 39, i32 8, i32 40, i32 9, i32 41, i32 10, i32 42, i32 11, i32 43, i32 12, i32 44, i32 13, i32 45, i32 14, i32 46, i32 15, i32 47, i32 16, i32 48, i32 17, i32 49, i32 18, i32 50, i32 19, i32 51, i32 20, i32 52, i32 21, i32 53, i32 22, i32 54, i32 23, i32 55, i32 24, i32 56, i32 25, i32 57, i32 26, i32 58, i32 27, i32 59, i32 28, i32 60, i32 29, i32 61, i32 30, i32 62, i32 31, i32 63>
  %product = call <64 x float> @metalloid_matrix_product(<64 x float> %sum, <64 x float> %left, <64 x float> %right)
  %even.next = shufflevector <64 x float> %product, <64 x float> poison, <32 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30, i32 32, i32 34, i32 36, i32 38, i32 40, i32 42, i32 44, i32 46, i32 48, i32 50, i32 52, i32 54, i32 56, i32 58, i32 60, i32 62>
  %odd.next = shufflevector <64 x float> %product, <64 x float> poison, <32 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31, i32 33, i32 35, i32 37, i32 39, i32 41, i32 43, i32 45, i32 47, i32 49, i32 51, i32 53, i32 55, i32 57, i32 59, i32 61, i32 63>
  %next = shufflevector <32 x float> %even.next, <32 x float> %odd.next, <64 x i32> <i32 0, i32 32, i32 1, i32 33, i32 2, i32 34, i32 3, i32 35, i32 4, i32 36, i32 5, i32 37, i32 6, i32 38, i32 7, i32 39, i32 8, i32 40, i32 9, i32 41, i32 10, i32 42, i32 11, i32 43, i32 12, i32 44, i32 13, i32 45, i32 14, i32 46, i32 15, i32 47, i32 16, i32 48, i32 17, i32 49, i32 18, i32 50, i32 19, i32 51, i32 20, i32 52, i32 21, i32 53, i32 22, i32 54, i32 23, i32 55, i32 24, i32 56, i32 25, i32 57, i32 26, i32 58, i32 27, i32 59, i32 28, i32 60, i32 29, i32 61, i32 30, i32 62, i32 31, i32 63>
  %second = call <64 x float> @metalloid_matrix_product(<64 x float> %next, <64 x float> %left, <64 x float> %right)
  %even.last = shufflevector <64 x float> %second, <64 x float> poison, <32 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30, i32 32, i32 34, i32 36, i32 38, i32 40, i32 42, i32 44, i32 46, i32 48, i32 50, i32 52, i32 54, i32 56, i32 58, i32 60, i32 62>
  %odd.last = shufflevector <64 x float> %second, <64 x float> poison, <32 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31, i32 33, i32 35, i32 37, i32 39, i32 41, i32 43, i32 45, i32 47, i32 49, i32 51, i32 53, i32 55, i32 57, i32 59, i32 61, i32 63>
  store <32 x float> %even.last, ptr %even.slot
  store <32 x float> %odd.last, ptr %odd.slot
  br i1 %again, label %loop, label %end

end:
  ; The first row, by way of both vectors side by side.
  %even.end = load <32 x float>, ptr %even.slot
  %odd.end = load <32 x float>, ptr %odd.slot
  %both = shufflevector <32 x float> %even.end, <32 x float> %odd.end, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %row = shufflevector <64 x float> %both, <64 x float> poison, <8 x i32> <i32 0, i32 32, i32 1, i32 33, i32 8, i32 40, i32 9, i32 41>
  store <8 x float> %row, ptr %out
  ret void
}
