; Each fourth element of 16 bits comes out of eight structures by a shift, once where lanes get the same; each eighth byte
; likewise. Every second element, elements out of order, and numbers of 32 bits stay shuffles, as all do where any 16
; bits can be permuted.
; RUN: shift_out_elements
; RUN(WITH): shift_out_elements_with

; CHECK-LABEL: define void @kernel(
; CHECK: [[PART:%.*]] = shufflevector <64 x half> %b, <64 x half> poison, <32 x i32> <i32 8, i32 9, {{.*}}, i32 39>
; CHECK: [[WHOLE:%.*]] = bitcast <32 x half> [[PART]] to <8 x i64>
; CHECK: [[SHIFTED:%.*]] = lshr <8 x i64> [[WHOLE]], splat (i64 32)
; CHECK: [[MEMBER:%.*]] = trunc <8 x i64> [[SHIFTED]] to <8 x i16>
; CHECK: [[HALFS:%.*]] = bitcast <8 x i16> [[MEMBER]] to <8 x half>
; CHECK: store <8 x half> [[HALFS]], ptr %p
; CHECK: [[WHOLE:%.*]] = bitcast <32 x i16> {{%.*}} to <8 x i64>
; CHECK: [[MEMBER:%.*]] = trunc <8 x i64> [[WHOLE]] to <8 x i16>
; CHECK: [[FIRST:%.*]] = shufflevector <8 x i16> [[MEMBER]], <8 x i16> [[MEMBER]], <16 x i32>
; CHECK: [[SECOND:%.*]] = shufflevector <8 x i16> [[MEMBER]], <8 x i16> [[MEMBER]], <16 x i32>
; CHECK: [[ALL:%.*]] = shufflevector <16 x i16> [[FIRST]], <16 x i16> [[SECOND]], <32 x i32>
; CHECK: store <32 x i16> [[ALL]], ptr %p
; CHECK: bitcast <64 x i8> {{%.*}} to <8 x i64>
; CHECK: lshr <8 x i64> {{%.*}}, splat (i64 56)
; CHECK: trunc <8 x i64> {{%.*}} to <8 x i8>
; CHECK-NOT: trunc
; CHECK: ret void

; WITH-NOT: trunc

define void @kernel(ptr %p, <64 x half> %a, <64 x half> %b, <32 x i16> %c, <64 x i8> %d, <32 x i32> %e) {
  %member = shufflevector <64 x half> %a, <64 x half> %b, <8 x i32> <i32 74, i32 78, i32 82, i32 poison, i32 90, i32 94, i32 98, i32 102>
  store <8 x half> %member, ptr %p
  %same = shufflevector <32 x i16> %c, <32 x i16> poison, <32 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  store <32 x i16> %same, ptr %p
  %byte = shufflevector <64 x i8> %d, <64 x i8> poison, <8 x i32> <i32 7, i32 15, i32 23, i32 31, i32 39, i32 47, i32 55, i32 63>
  store <8 x i8> %byte, ptr %p
  %second = shufflevector <32 x i16> %c, <32 x i16> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  store <8 x i16> %second, ptr %p
  %back = shufflevector <32 x i16> %c, <32 x i16> poison, <8 x i32> <i32 28, i32 24, i32 20, i32 16, i32 12, i32 8, i32 4, i32 0>
  store <8 x i16> %back, ptr %p
  %both = shufflevector <32 x i16> %c, <32 x i16> %c, <8 x i32> <i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44>
  store <8 x i16> %both, ptr %p
  %large = shufflevector <32 x i32> %e, <32 x i32> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  store <8 x i32> %large, ptr %p
  ret void
}
