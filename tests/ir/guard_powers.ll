; Powers that LLVM makes roots of are right for minus infinity, positive, and have positive exponents; others stay.
; RUN: guard_powers

; CHECK-LABEL: define void @kernel(
; CHECK: [[POWER:%.*]] = call afn float @llvm.pow.f32(float %x, float 2.500000e+00)
; CHECK: [[MAGNITUDE:%.*]] = call float @llvm.fabs.f32(float [[POWER]])
; CHECK: [[IS_INFINITE:%.*]] = fcmp oeq float %x, {{0xFFF0000000000000|-inf}}
; CHECK: [[CHOSEN:%.*]] = select i1 [[IS_INFINITE]], float {{0x7FF0000000000000|\+inf}}, float [[MAGNITUDE]]
; CHECK: store volatile float [[CHOSEN]],
; CHECK: [[ROOT:%.*]] = call afn float @llvm.pow.f32(float %x, float 1.500000e+00)
; CHECK: [[INVERSE:%.*]] = fdiv afn float 1.000000e+00, [[ROOT]]
; CHECK: [[POSITIVE:%.*]] = call float @llvm.fabs.f32(float [[INVERSE]])
; CHECK: select i1 {{%.*}}, float 0.000000e+00, float [[POSITIVE]]
; CHECK: select <2 x i1>
; CHECK: [[SQUARE_ROOT:%.*]] = call afn float @llvm.pow.f32(float %x, float 5.000000e-01)
; CHECK: fdiv afn float 1.000000e+00, [[SQUARE_ROOT]]
; CHECK: select i1 {{%.*}}, float 0.000000e+00,
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
  %root = call afn float @llvm.pow.f32(float %x, float -0.5)
  store volatile float %root, ptr addrspace(1) %a
  %cube = call afn float @llvm.pow.f32(float %x, float 3.0)
  store volatile float %cube, ptr addrspace(1) %a
  %quarter = call afn float @llvm.pow.f32(float %x, float 2.25)
  store volatile float %quarter, ptr addrspace(1) %a
  %exact = call float @llvm.pow.f32(float %x, float 2.5)
  store volatile float %exact, ptr addrspace(1) %a
  ret void
}
