; Elements of several types behind one pointer are addressed in bytes, so that LLVM does not take their indices for
; distances; those of one type stay as they are.
; RUN: address_in_bytes

; CHECK-LABEL: define float @kernel(
; CHECK: %a.idx = mul nuw nsw i64 %i, 4
; CHECK: %a = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 %a.idx
; CHECK: %b.idx = mul nuw nsw i64 %i, 12
; CHECK: %b = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 %b.idx
; CHECK: %c = getelementptr inbounds nuw float, ptr addrspace(1) %q, i64 %i
; CHECK: %d = getelementptr inbounds nuw [3 x float], ptr addrspace(1) %q, i64 1

define float @kernel(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %x) {
  %next = add i32 %x, 1
  %i = zext i32 %next to i64
  %a = getelementptr inbounds nuw float, ptr addrspace(1) %p, i64 %i
  %b = getelementptr inbounds nuw [3 x float], ptr addrspace(1) %p, i64 %i
  %c = getelementptr inbounds nuw float, ptr addrspace(1) %q, i64 %i
  %d = getelementptr inbounds nuw [3 x float], ptr addrspace(1) %q, i64 1
  %u = load float, ptr addrspace(1) %a, align 4
  %v = load float, ptr addrspace(1) %b, align 4
  %w = load float, ptr addrspace(1) %c, align 4
  %y = load float, ptr addrspace(1) %d, align 4
  %s = fsub float %u, %v
  %t = fsub float %w, %y
  %r = fadd float %s, %t
  ret float %r
}
