; What goes around a loop in which the simdgroup waits has one place in memory: written where the turn's value is there,
; and read by what wants it.
; RUN: carry_over_barriers

; CHECK-LABEL: define void @kernel(
; CHECK: [[PLACE:%.*]] = alloca <32 x float>
; CHECK: store <32 x float> zeroinitializer, ptr [[PLACE]]
; CHECK: loop:
; CHECK-NOT: phi <32 x float>
; CHECK: call void @metalloid_simdgroup_waits()
; CHECK: [[SUM:%.*]] = load <32 x float>, ptr [[PLACE]]
; CHECK: [[MORE:%.*]] = fadd <32 x float> [[SUM]],
; CHECK: store <32 x float> [[MORE]], ptr [[PLACE]]
; CHECK-NEXT: call void @metalloid_simdgroup_waits()
; CHECK: end:
; CHECK: [[LAST:%.*]] = load <32 x float>, ptr [[PLACE]]
; CHECK: store <32 x float> [[LAST]], ptr %out

declare void @metalloid_simdgroup_waits()

define void @kernel(ptr %in, ptr %out, i32 %turns) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <32 x float> [ zeroinitializer, %entry ], [ %more, %loop ]
  call void @metalloid_simdgroup_waits()
  %x = load <32 x float>, ptr %in
  %more = fadd <32 x float> %sum, %x
  call void @metalloid_simdgroup_waits()
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %turns
  br i1 %again, label %loop, label %end
end:
  store <32 x float> %more, ptr %out
  ret void
}
