; Where no other choice brings a kernel below 80,000 instructions, a function at which threads meet stays a call.
; RUN: inline_functions

; CHECK: define internal i32 @meeting(
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel(
; CHECK-COUNT-8: call i32 @meeting(
; CHECK-NOT: call i32

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define internal i32 @ten(i32 %x) {
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %a = mul i32 %x, 747796405
  %b = add i32 %a, 289559509
  %c = lshr i32 %b, 28
  %d = add i32 %c, 4
  %e = lshr i32 %b, %d
  %f = xor i32 %e, %b
  %g = mul i32 %f, 277803737
  %h = lshr i32 %g, 22
  %i = xor i32 %g, %h
  ret i32 %i
}

define internal i32 @hundred(i32 %x) {
  %v0 = call i32 @ten(i32 %x)
  %v1 = call i32 @ten(i32 %v0)
  %v2 = call i32 @ten(i32 %v1)
  %v3 = call i32 @ten(i32 %v2)
  %v4 = call i32 @ten(i32 %v3)
  %v5 = call i32 @ten(i32 %v4)
  %v6 = call i32 @ten(i32 %v5)
  %v7 = call i32 @ten(i32 %v6)
  %v8 = call i32 @ten(i32 %v7)
  %v9 = call i32 @ten(i32 %v8)
  ret i32 %v9
}

define internal i32 @thousand(i32 %x) {
  %v0 = call i32 @hundred(i32 %x)
  %v1 = call i32 @hundred(i32 %v0)
  %v2 = call i32 @hundred(i32 %v1)
  %v3 = call i32 @hundred(i32 %v2)
  %v4 = call i32 @hundred(i32 %v3)
  %v5 = call i32 @hundred(i32 %v4)
  %v6 = call i32 @hundred(i32 %v5)
  %v7 = call i32 @hundred(i32 %v6)
  %v8 = call i32 @hundred(i32 %v7)
  %v9 = call i32 @hundred(i32 %v8)
  ret i32 %v9
}

define internal i32 @meeting(i32 %x) {
  %v0 = call i32 @thousand(i32 %x)
  %v1 = call i32 @thousand(i32 %v0)
  %v2 = call i32 @thousand(i32 %v1)
  %v3 = call i32 @thousand(i32 %v2)
  %v4 = call i32 @thousand(i32 %v3)
  %v5 = call i32 @thousand(i32 %v4)
  %v6 = call i32 @thousand(i32 %v5)
  %v7 = call i32 @thousand(i32 %v6)
  %v8 = call i32 @thousand(i32 %v7)
  %v9 = call i32 @thousand(i32 %v8)
  ret i32 %v9
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  %v0 = call i32 @meeting(i32 %x)
  %v1 = call i32 @meeting(i32 %v0)
  %v2 = call i32 @meeting(i32 %v1)
  %v3 = call i32 @meeting(i32 %v2)
  %v4 = call i32 @meeting(i32 %v3)
  %v5 = call i32 @meeting(i32 %v4)
  %v6 = call i32 @meeting(i32 %v5)
  %v7 = call i32 @meeting(i32 %v6)
  store i32 %v7, ptr addrspace(1) %out
  ret void
}
