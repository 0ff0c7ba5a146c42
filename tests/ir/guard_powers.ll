; Powers that LLVM makes roots of have a base that is not minus infinity; others stay.
; RUN: guard_powers

; CHECK-LABEL: define void @kernel(
; CHECK: [[IS_USUAL:%.*]] = fcmp ogt float %x, {{0xFFF0000000000000|-inf}}
; CHECK: [[MAGNITUDE:%.*]] = call float @llvm.fabs.f32(float %x)
; CHECK: [[BASE:%.*]] = select i1 [[IS_USUAL]], float %x, float [[MAGNITUDE]]
; CHECK: call afn float @llvm.pow.f32(float [[BASE]], float 2.500000e+00)
; CHECK: fcmp olt float %x, 0.000000e+00
; CHECK: [[POWER:%.*]] = call afn float @llvm.pow.f32(float {{%.*}}, float 1.500000e+00)
; CHECK: [[INVERSE:%.*]] = fdiv afn float 1.000000e+00, [[POWER]]
; CHECK: store volatile float [[INVERSE]],
; CHECK: select <2 x i1>
; CHECK: call afn float @llvm.pow.f32(float %x, float 5.000000e-01)
; CHECK: call afn float @llvm.pow.f32(float %x, float 3.000000e+00)
; CHECK: call afn float @llvm.pow.f32(float %x, float 2.250000e+00)
; CHECK: call float @llvm.pow.f32(float %x, float 2.500000e+00)

define void @kernel(ptr addrspace(1) %a) {
entry:
  %x = load float, ptr addrspace(1) %a
  %v = load <2 x float>, ptr addrspace(1) %a
  %p = call afn float @llvm.pow.f32(float %x, float 2.5)
  store volatile float %p, ptr addrspace(1) %a
  %q = call afn float @llvm.pow.f32(float %x, float -1.5)
  store volatile float %q, ptr addrspace(1) %a
  %w = call afn <2 x float> @llvm.pow.v2f32(<2 x float> %v, <2 x float> <float 3.5, float 3.5>)
  store volatile <2 x float> %w, ptr addrspace(1) %a
  %root = call afn float @llvm.pow.f32(float %x, float 0.5)
  store volatile float %root, ptr addrspace(1) %a
  %cube = call afn float @llvm.pow.f32(float %x, float 3.0)
  store volatile float %cube, ptr addrspace(1) %a
  %quarter = call afn float @llvm.pow.f32(float %x, float 2.25)
  store volatile float %quarter, ptr addrspace(1) %a
  %exact = call float @llvm.pow.f32(float %x, float 2.5)
  store volatile float %exact, ptr addrspace(1) %a
  ret void
}
