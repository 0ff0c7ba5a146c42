; Pointers to functions become numbers, calls through them a choice, and every other number crashes.
; RUN: resolve_indirect_calls

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: ptr @first
; CHECK: switch
; CHECK-DAG: call i32 @first(i32
; CHECK-DAG: call i32 @second(i32
; CHECK-NOT: call i32 %

define internal i32 @first(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}

define internal i32 @second(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}

define void @kernel(ptr addrspace(1) %out, i1 %which) {
  %f = select i1 %which, ptr @first, ptr @second
  %x = call i32 %f(i32 5)
  store i32 %x, ptr addrspace(1) %out
  ret void
}
