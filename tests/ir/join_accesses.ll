; Accesses side by side are joined across those of other memory: threadgroup memory is none of a buffer's.
; RUN: join_accesses
; ARGUMENT: buffer

; CHECK: store <2 x float> {{.*}}, ptr addrspace(3) %to
; CHECK: ret void

define void @kernel(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %i, i64 %j) {
  %a.place = getelementptr float, ptr addrspace(1) %from, i64 %i
  %b.place = getelementptr float, ptr addrspace(1) %from, i64 %j
  %next = getelementptr i8, ptr addrspace(3) %to, i64 4
  %a = load float, ptr addrspace(1) %a.place, align 4
  store float %a, ptr addrspace(3) %to, align 8
  %b = load float, ptr addrspace(1) %b.place, align 4
  store float %b, ptr addrspace(3) %next, align 4
  ret void
}
