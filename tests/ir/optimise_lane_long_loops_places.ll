; Of much more code loops stay, too, whose turns choose places in a variable that no registers hold. It stays in memory.
; RUN: lower_arguments_of_a_lane optimise_lane
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_lane(
; CHECK: alloca [64 x float]
; CHECK: phi
; CHECK-COUNT-32: load float, ptr addrspace(1)
; CHECK-NOT: load float, ptr addrspace(1)
; CHECK: ret void
; CHECK: llvm.loop.unroll.disable

define void @kernel(ptr addrspace(1) %memory) {
entry:
  %sums = alloca [64 x float]
  call void @llvm.memset.p0.i64(ptr %sums, i8 0, i64 256, i1 false)
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %next.k, %end ]
  %first = mul i32 %k, 32
  %to = getelementptr [64 x float], ptr %sums, i32 0, i32 %k
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %next.i, %inner ]
  %index = add i32 %first, %i
  %from = getelementptr float, ptr addrspace(1) %memory, i32 %index
  %a = load float, ptr addrspace(1) %from
  %b = fmul float %a, %a
  %c = fadd float %b, %a
  %d = fmul float %c, %b
  %e = fadd float %d, %a
  %f = fmul float %e, %c
  %before = load float, ptr %to
  %sum = fadd float %before, %f
  store float %sum, ptr %to
  %next.i = add i32 %i, 1
  %more = icmp ult i32 %next.i, 32
  br i1 %more, label %inner, label %end, !llvm.loop !0
end:
  %next.k = add i32 %k, 1
  %again = icmp ult i32 %next.k, 64
  br i1 %again, label %outer, label %behind, !llvm.loop !2
behind:
  %j = phi i32 [ 0, %end ], [ %next.j, %behind ]
  %at = getelementptr [64 x float], ptr %sums, i32 0, i32 %j
  %result = load float, ptr %at
  %place = getelementptr float, ptr addrspace(1) %memory, i32 %j
  store float %result, ptr addrspace(1) %place
  %next.j = add i32 %j, 1
  %on = icmp ult i32 %next.j, 64
  br i1 %on, label %behind, label %last
last:
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
!2 = distinct !{!2, !1}
