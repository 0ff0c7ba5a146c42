; A wide read of memory that nobody writes stays one, and says so still.
; RUN: optimise_for_gpus
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: load <4 x float>, ptr addrspace(1) {{.*}}, align 16, !invariant.load

define void @kernel(ptr addrspace(1) noalias %x, ptr addrspace(1) noalias %out) {
  %row = load <4 x float>, ptr addrspace(1) %x, align 16, !invariant.load !0
  %a = extractelement <4 x float> %row, i64 0
  %b = extractelement <4 x float> %row, i64 1
  %c = extractelement <4 x float> %row, i64 2
  %d = extractelement <4 x float> %row, i64 3
  %ab = fmul float %a, %b
  %cd = fmul float %c, %d
  %sum = fadd float %ab, %cd
  store float %sum, ptr addrspace(1) %out
  ret void
}

!0 = !{}
