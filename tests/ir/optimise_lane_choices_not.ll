; Nobody divides who does not need to: the switch stays.
; RUN: optimise_lane

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK: switch
; CHECK: udiv

define void @kernel(ptr addrspace(1) %out, i32 %n) {
entry:
  %x = load i32, ptr addrspace(1) %out
  %next = getelementptr i8, ptr addrspace(1) %out, i64 4
  %y = load i32, ptr addrspace(1) %next
  switch i32 %n, label %end [
    i32 1, label %one
    i32 2, label %two
  ]
one:
  %1 = udiv i32 %x, %y
  br label %end
two:
  %2 = add i32 %x, 3
  br label %end
end:
  %word = phi i32 [ %x, %entry ], [ %1, %one ], [ %2, %two ]
  store i32 %word, ptr addrspace(1) %out
  ret void
}
