; Only accesses to the thread's own variables, and atomic ones, keep a promise of alignment.
; RUN: relax_alignment

; CHECK-LABEL: define void @kernel(
; CHECK: load <4 x float>, ptr addrspace(1) %in, align 1
; CHECK: store <4 x float> %x, ptr %v, align 16
; CHECK: store <4 x float> %x, ptr addrspace(1) %out, align 1
; CHECK: atomicrmw add ptr addrspace(1) %out, i32 1 monotonic, align 4

define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %v = alloca <4 x float>, align 16
  %x = load <4 x float>, ptr addrspace(1) %in, align 16
  store <4 x float> %x, ptr %v, align 16
  store <4 x float> %x, ptr addrspace(1) %out, align 16
  %old = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic, align 4
  ret void
}
