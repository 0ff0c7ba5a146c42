; What constants make impossible goes, also through calls. All that stays keeps its variables and accesses.
; RUN: drop_dead_code

; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: %x = alloca i32
; CHECK-NEXT: store i32 1, ptr %x
; CHECK-NEXT: store i32 2, ptr %x
; CHECK-NEXT: %a = load i32, ptr addrspace(1) %out
; CHECK-NEXT: %b = load i32, ptr addrspace(1) %out
; CHECK-NEXT: %c = load i32, ptr %x
; CHECK-NEXT: call void @maybe(i1 false, ptr addrspace(1) %out)
; CHECK-NEXT: %unneeded = and i32 0, 0
; CHECK-NEXT: store i32 %unneeded
; CHECK-NEXT: switch i32 %a, label %other [
; CHECK-NEXT: i32 1, label %one
; CHECK-NEXT: ]
; CHECK-LABEL: define internal void @maybe(
; CHECK-NOT: label %then
; CHECK: br label %else
; CHECK-NOT: @never

@off = internal addrspace(2) constant i32 0
@unset = external addrspace(2) constant i32

define void @kernel(ptr addrspace(1) %out) {
  %x = alloca i32
  store i32 1, ptr %x
  store i32 2, ptr %x
  %a = load i32, ptr addrspace(1) %out
  %b = load i32, ptr addrspace(1) %out
  %c = load i32, ptr %x
  call void @maybe(i1 false, ptr addrspace(1) %out)
  %unset = load i32, ptr addrspace(2) @unset
  %unneeded = and i32 %unset, 0
  store i32 %unneeded, ptr addrspace(1) %out
  switch i32 %a, label %other [
    i32 1, label %one
  ]
one:
  ret void
other:
  ret void
}

define internal void @maybe(i1 %wanted, ptr addrspace(1) %out) {
  br i1 %wanted, label %then, label %else
then:
  call void @never(ptr addrspace(1) %out)
  br label %else
else:
  ret void
}

define internal void @never(ptr addrspace(1) %out) {
  store i32 7, ptr addrspace(1) %out
  ret void
}
