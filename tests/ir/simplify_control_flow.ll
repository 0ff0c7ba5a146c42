; Branches only, one return, a loop whose last block does nothing but branch, and sums of numbers that share no bit.
; RUN: simplify_control_flow

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK-NOT: switch
; CHECK: .turn_end:
; CHECK-NEXT: br
; CHECK: phi i32
; CHECK: add i32 {{.*}}, 1
; CHECK: ret void
; CHECK-NOT: ret void

define void @kernel(ptr addrspace(1) %out) {
entry:
  %x = load i32, ptr addrspace(1) %out
  switch i32 %x, label %loop [ i32 1, label %one
                               i32 5, label %one ]
one:
  ret void
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %body ]
  %stop = icmp eq i32 %k, %x
  br i1 %stop, label %left, label %body
body:
  %next = add i32 %k, 3
  store i32 %next, ptr addrspace(1) %out
  br label %loop
left:
  %odd = or disjoint i32 %k, 1
  store i32 %odd, ptr addrspace(1) %out
  ret void
}
