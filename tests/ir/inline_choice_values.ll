; A kernel of more than 12,000 instructions, and less than 30,000: large functions that work on values alone stay calls.
; One that is handed addresses of buffers does not.
; RUN: inline_functions

; CHECK-NOT: define internal
; CHECK: define internal i32 @values(
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel(
; CHECK-COUNT-12: call i32 @values(
; CHECK-NOT: call i32

define internal i32 @ten(i32 %x) {
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

define internal i32 @values(i32 %x) {
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

define internal i32 @reading(ptr addrspace(1) %place) {
  %x = load i32, ptr addrspace(1) %place
  %v0 = call i32 @hundred(i32 %x)
  %v1 = call i32 @hundred(i32 %v0)
  %v2 = call i32 @hundred(i32 %v1)
  %v3 = call i32 @hundred(i32 %v2)
  %v4 = call i32 @hundred(i32 %v3)
  %v5 = call i32 @hundred(i32 %v4)
  ret i32 %v5
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  %v0 = call i32 @values(i32 %x)
  %v1 = call i32 @values(i32 %v0)
  %v2 = call i32 @values(i32 %v1)
  %v3 = call i32 @values(i32 %v2)
  %v4 = call i32 @values(i32 %v3)
  %v5 = call i32 @values(i32 %v4)
  %v6 = call i32 @values(i32 %v5)
  %v7 = call i32 @values(i32 %v6)
  %v8 = call i32 @values(i32 %v7)
  %v9 = call i32 @values(i32 %v8)
  %v10 = call i32 @values(i32 %v9)
  %v11 = call i32 @values(i32 %v10)
  %r0 = call i32 @reading(ptr addrspace(1) %out)
  %s0 = add i32 %r0, %v11
  %r1 = call i32 @reading(ptr addrspace(1) %out)
  %s1 = add i32 %r1, %s0
  store i32 %s1, ptr addrspace(1) %out
  ret void
}
