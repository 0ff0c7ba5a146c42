; Accesses side by side are joined across those of other memory: threadgroup memory is none of a buffer's; and those of
; a table, among others of it that lie anywhere.
; RUN: join_accesses
; ARGUMENT: buffer

; CHECK: store <2 x float> {{.*}}, ptr addrspace(3) %to
; CHECK: load <2 x float>, ptr addrspace(2) %t.place
; CHECK: %far.place = getelementptr float, ptr addrspace(2) @table, i64 %k
; CHECK: load float, ptr addrspace(2) %far.place
; CHECK-NOT: freeze
; CHECK: ret void

@table = internal addrspace(2) constant [16 x float] zeroinitializer

define void @kernel(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %i, i64 %j, i64 %k) {
  %a.place = getelementptr float, ptr addrspace(1) %from, i64 %i
  %b.place = getelementptr float, ptr addrspace(1) %from, i64 %j
  %next = getelementptr i8, ptr addrspace(3) %to, i64 4
  %a = load float, ptr addrspace(1) %a.place, align 4
  store float %a, ptr addrspace(3) %to, align 8
  %b = load float, ptr addrspace(1) %b.place, align 4
  store float %b, ptr addrspace(3) %next, align 4
  %t.place = getelementptr float, ptr addrspace(2) @table, i64 %i
  %t = load float, ptr addrspace(2) %t.place, align 4, !invariant.load !0
  %far.place = getelementptr float, ptr addrspace(2) @table, i64 %k
  %far = load float, ptr addrspace(2) %far.place, align 4, !invariant.load !0
  %u.place = getelementptr i8, ptr addrspace(2) %t.place, i64 4
  %u = load float, ptr addrspace(2) %u.place, align 4, !invariant.load !0
  %sum = fadd float %t, %u
  %more = fadd float %sum, %far
  store float %more, ptr addrspace(1) %a.place, align 4
  ret void
}

!0 = !{}
