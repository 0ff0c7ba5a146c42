; Left operands whose rows lie in memory stay there, too, where two of them share a call, if nothing is written until they
; are wanted: no place is made for them.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: alloca
; CHECK: call {{.*}} @metalloid.products.[[BLOCK:1x1|2x1]](
; CHECK: store <64 x float>
; CHECK: ret void

; CHECK: define internal {{.*}} @metalloid.products.[[BLOCK]](

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(ptr addrspace(3) %left, ptr addrspace(3) %right, ptr %out) {
  %upper.p0 = getelementptr i8, ptr addrspace(3) %left, i64 0
  %upper.r0 = load <8 x float>, ptr addrspace(3) %upper.p0, align 4
  %upper.p1 = getelementptr i8, ptr addrspace(3) %left, i64 64
  %upper.r1 = load <8 x float>, ptr addrspace(3) %upper.p1, align 4
  %upper.p2 = getelementptr i8, ptr addrspace(3) %left, i64 128
  %upper.r2 = load <8 x float>, ptr addrspace(3) %upper.p2, align 4
  %upper.p3 = getelementptr i8, ptr addrspace(3) %left, i64 192
  %upper.r3 = load <8 x float>, ptr addrspace(3) %upper.p3, align 4
  %upper.p4 = getelementptr i8, ptr addrspace(3) %left, i64 256
  %upper.r4 = load <8 x float>, ptr addrspace(3) %upper.p4, align 4
  %upper.p5 = getelementptr i8, ptr addrspace(3) %left, i64 320
  %upper.r5 = load <8 x float>, ptr addrspace(3) %upper.p5, align 4
  %upper.p6 = getelementptr i8, ptr addrspace(3) %left, i64 384
  %upper.r6 = load <8 x float>, ptr addrspace(3) %upper.p6, align 4
  %upper.p7 = getelementptr i8, ptr addrspace(3) %left, i64 448
  %upper.r7 = load <8 x float>, ptr addrspace(3) %upper.p7, align 4
  %upper.d0 = shufflevector <8 x float> %upper.r0, <8 x float> %upper.r1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %upper.d1 = shufflevector <8 x float> %upper.r2, <8 x float> %upper.r3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %upper.d2 = shufflevector <8 x float> %upper.r4, <8 x float> %upper.r5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %upper.d3 = shufflevector <8 x float> %upper.r6, <8 x float> %upper.r7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %upper.q0 = shufflevector <16 x float> %upper.d0, <16 x float> %upper.d1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %upper.q1 = shufflevector <16 x float> %upper.d2, <16 x float> %upper.d3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %upper.rows = shufflevector <32 x float> %upper.q0, <32 x float> %upper.q1, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %upper = shufflevector <64 x float> %upper.rows, <64 x float> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27, i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 40, i32 41, i32 42, i32 43, i32 48, i32 49, i32 50, i32 51, i32 56, i32 57, i32 58, i32 59, i32 36, i32 37, i32 38, i32 39, i32 44, i32 45, i32 46, i32 47, i32 52, i32 53, i32 54, i32 55, i32 60, i32 61, i32 62, i32 63>
  %lower.p0 = getelementptr i8, ptr addrspace(3) %left, i64 512
  %lower.r0 = load <8 x float>, ptr addrspace(3) %lower.p0, align 4
  %lower.p1 = getelementptr i8, ptr addrspace(3) %left, i64 576
  %lower.r1 = load <8 x float>, ptr addrspace(3) %lower.p1, align 4
  %lower.p2 = getelementptr i8, ptr addrspace(3) %left, i64 640
  %lower.r2 = load <8 x float>, ptr addrspace(3) %lower.p2, align 4
  %lower.p3 = getelementptr i8, ptr addrspace(3) %left, i64 704
  %lower.r3 = load <8 x float>, ptr addrspace(3) %lower.p3, align 4
  %lower.p4 = getelementptr i8, ptr addrspace(3) %left, i64 768
  %lower.r4 = load <8 x float>, ptr addrspace(3) %lower.p4, align 4
  %lower.p5 = getelementptr i8, ptr addrspace(3) %left, i64 832
  %lower.r5 = load <8 x float>, ptr addrspace(3) %lower.p5, align 4
  %lower.p6 = getelementptr i8, ptr addrspace(3) %left, i64 896
  %lower.r6 = load <8 x float>, ptr addrspace(3) %lower.p6, align 4
  %lower.p7 = getelementptr i8, ptr addrspace(3) %left, i64 960
  %lower.r7 = load <8 x float>, ptr addrspace(3) %lower.p7, align 4
  %lower.d0 = shufflevector <8 x float> %lower.r0, <8 x float> %lower.r1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %lower.d1 = shufflevector <8 x float> %lower.r2, <8 x float> %lower.r3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %lower.d2 = shufflevector <8 x float> %lower.r4, <8 x float> %lower.r5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %lower.d3 = shufflevector <8 x float> %lower.r6, <8 x float> %lower.r7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %lower.q0 = shufflevector <16 x float> %lower.d0, <16 x float> %lower.d1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %lower.q1 = shufflevector <16 x float> %lower.d2, <16 x float> %lower.d3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %lower.rows = shufflevector <32 x float> %lower.q0, <32 x float> %lower.q1, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %lower = shufflevector <64 x float> %lower.rows, <64 x float> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11, i32 16, i32 17, i32 18, i32 19, i32 24, i32 25, i32 26, i32 27, i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15, i32 20, i32 21, i32 22, i32 23, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 40, i32 41, i32 42, i32 43, i32 48, i32 49, i32 50, i32 51, i32 56, i32 57, i32 58, i32 59, i32 36, i32 37, i32 38, i32 39, i32 44, i32 45, i32 46, i32 47, i32 52, i32 53, i32 54, i32 55, i32 60, i32 61, i32 62, i32 63>
  %b.p0 = getelementptr i8, ptr addrspace(3) %right, i64 0
  %b.r0 = load <8 x float>, ptr addrspace(3) %b.p0, align 4
  %b.p1 = getelementptr i8, ptr addrspace(3) %right, i64 144
  %b.r1 = load <8 x float>, ptr addrspace(3) %b.p1, align 4
  %b.p2 = getelementptr i8, ptr addrspace(3) %right, i64 288
  %b.r2 = load <8 x float>, ptr addrspace(3) %b.p2, align 4
  %b.p3 = getelementptr i8, ptr addrspace(3) %right, i64 432
  %b.r3 = load <8 x float>, ptr addrspace(3) %b.p3, align 4
  %b.p4 = getelementptr i8, ptr addrspace(3) %right, i64 576
  %b.r4 = load <8 x float>, ptr addrspace(3) %b.p4, align 4
  %b.p5 = getelementptr i8, ptr addrspace(3) %right, i64 720
  %b.r5 = load <8 x float>, ptr addrspace(3) %b.p5, align 4
  %b.p6 = getelementptr i8, ptr addrspace(3) %right, i64 864
  %b.r6 = load <8 x float>, ptr addrspace(3) %b.p6, align 4
  %b.p7 = getelementptr i8, ptr addrspace(3) %right, i64 1008
  %b.r7 = load <8 x float>, ptr addrspace(3) %b.p7, align 4
  %b.d0 = shufflevector <8 x float> %b.r0, <8 x float> %b.r1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %b.d1 = shufflevector <8 x float> %b.r2, <8 x float> %b.r3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %b.d2 = shufflevector <8 x float> %b.r4, <8 x float> %b.r5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %b.d3 = shufflevector <8 x float> %b.r6, <8 x float> %b.r7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %b.q0 = shufflevector <16 x float> %b.d0, <16 x float> %b.d1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %b.q1 = shufflevector <16 x float> %b.d2, <16 x float> %b.d3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %b = shufflevector <32 x float> %b.q0, <32 x float> %b.q1, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %one = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %upper, <64 x float> %b)
  %two = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %lower, <64 x float> %b)
  store <64 x float> %one, ptr %out
  %next = getelementptr i8, ptr %out, i64 256
  store <64 x float> %two, ptr %next
  ret void
}
