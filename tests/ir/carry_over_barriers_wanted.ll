; What a turn began with stays a value if it is wanted behind the barrier that the next value is carried over.
; RUN: carry_over_barriers

; CHECK-LABEL: define void @kernel(
; CHECK: [[SUM:%.*]] = phi <32 x float>
; CHECK: call void @metalloid_simdgroup_waits()
; CHECK: store <32 x float> [[SUM]], ptr %out
; CHECK: ret void

declare void @metalloid_simdgroup_waits()

define void @kernel(ptr %in, ptr %out, i32 %turns) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <32 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  %x = load <32 x float>, ptr %in
  %more = fadd <32 x float> %sum, %x
  call void @metalloid_simdgroup_waits()
  store <32 x float> %sum, ptr %out
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %turns
  br i1 %again, label %loop, label %end
end:
  ret void
}
