; Functions that may be approximate become the GPU's instructions; others stay for the pass that has them all.
; RUN: quick_math
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[LOW:%.*]] = call float @llvm.minimum.f32(float %x, float 8.900000e+01)
; CHECK: [[BOUNDED:%.*]] = call float @llvm.maximum.f32(float [[LOW]], float -1.040000e+02)
; CHECK: [[POWER:%.*]] = fmul float [[BOUNDED]],
; CHECK: [[TWO:%.*]] = call float @llvm.nvvm.ex2.approx{{.*}}(float [[POWER]])
; CHECK: fmul float [[TWO]],
; CHECK: [[WIDE:%.*]] = fpext half %h to float
; CHECK: call float @llvm.nvvm.ex2.approx{{.*}}(float [[WIDE]])
; CHECK: fptrunc float {{%.*}} to half
; CHECK: call float @llvm.nvvm.rcp.approx.ftz.f(
; CHECK: call float @llvm.nvvm.rcp.approx.ftz.f(
; CHECK: insertelement <2 x float>
; CHECK: [[LOGARITHM:%.*]] = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
; CHECK: [[PRODUCT:%.*]] = fmul float %y, [[LOGARITHM]]
; CHECK: [[USUAL:%.*]] = call float @llvm.nvvm.ex2.approx{{.*}}(float [[PRODUCT]])
; CHECK: fcmp uge float {{%.*}}, {{0x7FF0000000000000|\+inf}}
; CHECK: [[LARGE:%.*]] = call float @llvm.fma.f32(float %x, {{.*}}, float [[ROUNDING:.*]])
; CHECK: [[TURNS:%.*]] = fsub float [[LARGE]], [[ROUNDING]]
; CHECK-COUNT-3: call float @llvm.fma.f32(float [[TURNS]],
; CHECK: [[SINE:%.*]] = call float @llvm.nvvm.sin.approx.ftz.f(
; CHECK: [[IS_USUAL:%.*]] = fcmp uge float {{%.*}}, 7.812500e-03
; CHECK: [[CHOSEN:%.*]] = select i1 [[IS_USUAL]], float [[SINE]], float
; CHECK: br i1
; CHECK: [[POWER_OF_OTHERS:%.*]] = call float @llvm.pow.f32(float %x, float %y)
; CHECK: [[OTHER:%.*]] = select i1 {{%.*}}, float [[POWER_OF_OTHERS]], float [[USUAL]]
; CHECK: [[OF_LARGE:%.*]] = call float @llvm.sin.f32(float %x)
; CHECK: [[OTHER_SINE:%.*]] = select i1 {{%.*}}, float [[OF_LARGE]], float [[CHOSEN]]
; CHECK: phi float [ [[USUAL]], {{.*}} ], [ [[OTHER]],
; CHECK: phi float [ [[CHOSEN]], {{.*}} ], [ [[OTHER_SINE]],
; CHECK: call float @llvm.exp.f32(float %x)
; CHECK: [[INSTRUCTION:%.*]] = call float @llvm.nvvm.lg2.approx.ftz.f(float %x)
; CHECK: [[IS_BELOW:%.*]] = fcmp olt float [[INSTRUCTION]], -1.000000e+00
; CHECK: [[LESS:%.*]] = select i1 [[IS_BELOW]], float {{.*}}, float 0.000000e+00
; CHECK: call float @llvm.fma.f32(float [[INSTRUCTION]], float {{.*}}, float [[LESS]])
; CHECK: call afn float @llvm.sinh.f32(float %x)
; CHECK-NOT: call afn float @llvm.exp

define void @kernel(ptr addrspace(1) %a) {
entry:
  %x = load float, ptr addrspace(1) %a
  %y = load volatile float, ptr addrspace(1) %a
  %h = load half, ptr addrspace(1) %a
  %v = load <2 x float>, ptr addrspace(1) %a
  %quick = call afn float @llvm.exp.f32(float %x)
  %half = call fast half @llvm.exp2.f16(half %h)
  %vector = call afn <2 x float> @llvm.tanh.v2f32(<2 x float> %v)
  %power = call afn float @llvm.pow.f32(float %x, float %y)
  %sine = call afn float @llvm.sin.f32(float %x)
  store volatile float %sine, ptr addrspace(1) %a
  %exact = call float @llvm.exp.f32(float %x)
  %logarithm = call afn float @llvm.log.f32(float %x)
  store volatile float %logarithm, ptr addrspace(1) %a
  %other = call afn float @llvm.sinh.f32(float %x)
  store volatile float %quick, ptr addrspace(1) %a
  store volatile half %half, ptr addrspace(1) %a
  store volatile <2 x float> %vector, ptr addrspace(1) %a
  store volatile float %power, ptr addrspace(1) %a
  store volatile float %exact, ptr addrspace(1) %a
  store volatile float %other, ptr addrspace(1) %a
  ret void
}
