; A right operand whose rows lie in memory a constant number of bytes apart stays there, if nothing is written until it is
; wanted.
; RUN: retarget lower_products

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: load <8 x float>
; CHECK: [[ROWS:%.*]] = addrspacecast ptr addrspace(3) %p0 to ptr
; CHECK: call {{.*}} @metalloid.products.1x1(<16 x float> {{.*}}, ptr [[ROWS]])
; CHECK: store <64 x float>
; CHECK: ret void

; CHECK: define internal {{.*}} @metalloid.products.1x1(
; CHECK: getelementptr inbounds i8, ptr %{{.*}}, i64 1024
; CHECK: ret <64 x float>

declare <64 x float> @metalloid_matrix_product(<64 x float>, <64 x float>, <64 x float>) nounwind willreturn memory(none)

define void @kernel(ptr addrspace(3) %in, <64 x float> %a, ptr %out) {
  %p0 = getelementptr i8, ptr addrspace(3) %in, i64 0
  %r0 = load <8 x float>, ptr addrspace(3) %p0, align 4
  %p1 = getelementptr i8, ptr addrspace(3) %in, i64 144
  %r1 = load <8 x float>, ptr addrspace(3) %p1, align 4
  %p2 = getelementptr i8, ptr addrspace(3) %in, i64 288
  %r2 = load <8 x float>, ptr addrspace(3) %p2, align 4
  %p3 = getelementptr i8, ptr addrspace(3) %in, i64 432
  %r3 = load <8 x float>, ptr addrspace(3) %p3, align 4
  %p4 = getelementptr i8, ptr addrspace(3) %in, i64 576
  %r4 = load <8 x float>, ptr addrspace(3) %p4, align 4
  %p5 = getelementptr i8, ptr addrspace(3) %in, i64 720
  %r5 = load <8 x float>, ptr addrspace(3) %p5, align 4
  %p6 = getelementptr i8, ptr addrspace(3) %in, i64 864
  %r6 = load <8 x float>, ptr addrspace(3) %p6, align 4
  %p7 = getelementptr i8, ptr addrspace(3) %in, i64 1008
  %r7 = load <8 x float>, ptr addrspace(3) %p7, align 4
  %d0 = shufflevector <8 x float> %r0, <8 x float> %r1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %d1 = shufflevector <8 x float> %r2, <8 x float> %r3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %d2 = shufflevector <8 x float> %r4, <8 x float> %r5, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %d3 = shufflevector <8 x float> %r6, <8 x float> %r7, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %q0 = shufflevector <16 x float> %d0, <16 x float> %d1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %q1 = shufflevector <16 x float> %d2, <16 x float> %d3, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %b = shufflevector <32 x float> %q0, <32 x float> %q1, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63>
  %sum = call <64 x float> @metalloid_matrix_product(<64 x float> zeroinitializer, <64 x float> %a, <64 x float> %b)
  store <64 x float> %sum, ptr %out
  ret void
}
