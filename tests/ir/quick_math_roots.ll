; The library's rsqrt without what corrects its last bit. Another correction, or an exact root, stays.
; RUN: quick_math
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: %corrected = 
; CHECK-NEXT: [[ROOT:%.*]] = call float @llvm.nvvm.rsqrt.approx.ftz.f(float %x)
; CHECK: store volatile float [[ROOT]]
; CHECK: [[OTHER:%.*]] = call float @llvm.nvvm.rsqrt.approx.ftz.f(float %x2)
; CHECK: fma.f32(float [[OTHER]], float %e2, float [[OTHER]])
; CHECK: select
; CHECK: fdiv float 1.000000e+00

define void @kernel(ptr addrspace(1) %a) {
  %x = load volatile float, ptr addrspace(1) %a
  %s = call afn float @llvm.sqrt.f32(float %x)
  %y = fdiv afn float 1.0, %s
  %minus = fneg float %y
  %root = fmul float %x, %minus
  %lost = call float @llvm.fma.f32(float %x, float %y, float %root)
  %not_lost = fneg float %lost
  %rest = call float @llvm.fma.f32(float %root, float %y, float 1.0)
  %e = call float @llvm.fma.f32(float %not_lost, float %y, float %rest)
  %more = fmul float %e, 0.375
  %half = fmul float %e, 0.5
  %half_e = call float @llvm.fma.f32(float %more, float %e, float %half)
  %size = call float @llvm.fabs.f32(float %half_e)
  %is_small = fcmp olt float %size, 1.0
  %corrected = call float @llvm.fma.f32(float %y, float %half_e, float %y)
  %r = select i1 %is_small, float %corrected, float %y
  store volatile float %r, ptr addrspace(1) %a
  %x2 = load volatile float, ptr addrspace(1) %a
  %e2 = load volatile float, ptr addrspace(1) %a
  %s2 = call afn float @llvm.sqrt.f32(float %x2)
  %y2 = fdiv afn float 1.0, %s2
  %other = call float @llvm.fma.f32(float %y2, float %e2, float %y2)
  %r2 = select i1 %is_small, float %other, float %y2
  store volatile float %r2, ptr addrspace(1) %a
  %x3 = load volatile float, ptr addrspace(1) %a
  %s3 = call float @llvm.sqrt.f32(float %x3)
  %exact = fdiv float 1.0, %s3
  store volatile float %exact, ptr addrspace(1) %a
  ret void
}
