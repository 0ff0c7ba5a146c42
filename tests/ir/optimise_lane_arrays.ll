; A loop around a lane's own array is unrolled, though it is long, and its elements become values.
; RUN: lower_arguments_of_a_lane optimise_lane
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_lane(
; CHECK-NOT: alloca
; CHECK-NOT: phi
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out) {
entry:
  %a = alloca [24 x float]
  br label %turn

turn:
  %i = phi i32 [ 0, %entry ], [ %next, %turn ]
  %from = getelementptr float, ptr addrspace(1) %out, i32 %i
  %x = load float, ptr addrspace(1) %from
  %x2 = fmul float %x, %x
  %x3 = fmul float %x2, %x
  %x4 = fadd float %x3, %x2
  %x5 = fmul float %x4, %x
  %x6 = fdiv float %x5, %x2
  %x7 = fadd float %x6, 1.0
  %x8 = fmul float %x7, %x6
  %x9 = fadd float %x8, %x5
  %x10 = fmul float %x9, %x9
  %x11 = fadd float %x10, %x9
  %x12 = fmul float %x11, %x10
  %x13 = fadd float %x12, %x11
  %x14 = fmul float %x13, %x12
  %x15 = fadd float %x14, %x13
  %x16 = fmul float %x15, %x14
  %x17 = fadd float %x16, %x15
  %place = getelementptr float, ptr %a, i32 %i
  store float %x17, ptr %place
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, 24
  br i1 %again, label %turn, label %behind

behind:
  %last = getelementptr float, ptr %a, i32 23
  %result = load float, ptr %last
  store float %result, ptr addrspace(1) %out
  ret void
}
