; Whoever calls a function very often gets one copy of it, which is called.
; RUN: retarget lower_vector_math

; CHECK-LABEL: define void @kernel(
; CHECK-COUNT-17: call <4 x float> @metalloid.math.log(<4 x float> %{{.*}})
; CHECK-NOT: @metalloid.math.log
; CHECK: ret void
; CHECK: define internal <4 x float> @metalloid.math.log(<4 x float> %0)
; CHECK-NOT: llvm.log
; CHECK: ret <4 x float>

declare <4 x float> @llvm.log.v4f32(<4 x float>)

define void @kernel(ptr %out, <4 x float> %x0) {
  %x1 = call <4 x float> @llvm.log.v4f32(<4 x float> %x0)
  %x2 = call <4 x float> @llvm.log.v4f32(<4 x float> %x1)
  %x3 = call <4 x float> @llvm.log.v4f32(<4 x float> %x2)
  %x4 = call <4 x float> @llvm.log.v4f32(<4 x float> %x3)
  %x5 = call <4 x float> @llvm.log.v4f32(<4 x float> %x4)
  %x6 = call <4 x float> @llvm.log.v4f32(<4 x float> %x5)
  %x7 = call <4 x float> @llvm.log.v4f32(<4 x float> %x6)
  %x8 = call <4 x float> @llvm.log.v4f32(<4 x float> %x7)
  %x9 = call <4 x float> @llvm.log.v4f32(<4 x float> %x8)
  %x10 = call <4 x float> @llvm.log.v4f32(<4 x float> %x9)
  %x11 = call <4 x float> @llvm.log.v4f32(<4 x float> %x10)
  %x12 = call <4 x float> @llvm.log.v4f32(<4 x float> %x11)
  %x13 = call <4 x float> @llvm.log.v4f32(<4 x float> %x12)
  %x14 = call <4 x float> @llvm.log.v4f32(<4 x float> %x13)
  %x15 = call <4 x float> @llvm.log.v4f32(<4 x float> %x14)
  %x16 = call <4 x float> @llvm.log.v4f32(<4 x float> %x15)
  %x17 = call <4 x float> @llvm.log.v4f32(<4 x float> %x16)
  store <4 x float> %x17, ptr %out
  ret void
}
