; A variable of each thread at program scope becomes one of the kernel's, and functions that stay get its address.
; RUN: place_thread_variables

; CHECK-NOT: @position
; CHECK-LABEL: define void @kernel(
; CHECK: [[POSITION:%.*]] = alloca i32
; CHECK: store i32 %p, ptr [[POSITION]]
; CHECK: call i32 @kept(ptr [[POSITION]])
; CHECK: define internal i32 @kept(ptr [[PARAMETER:%.*]])
; CHECK: load i32, ptr [[PARAMETER]]

@position = external global i32, !metalloid.thread !0

define internal i32 @kept() noinline {
  %x = load i32, ptr @position
  ret i32 %x
}

define void @kernel(ptr addrspace(1) %out, i32 %p) {
  store i32 %p, ptr @position
  %x = call i32 @kept()
  store i32 %x, ptr addrspace(1) %out
  ret void
}

!0 = !{}
