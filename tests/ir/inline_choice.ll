; A kernel that would have more than 30,000 instructions keeps calls: the largest function stays that is called from
; several places, and no more than it takes. What is called once, has large variables or is declared always_inline
; does not stay, nor does a function where threads meet.
; RUN: inline_functions

; CHECK-NOT: define internal i32 @{{(ten|hundred|thousand)}}(
; CHECK: define internal i32 @large(
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: call i32 @{{(ten|hundred|thousand|once|meeting|always|large_variables)}}(
; CHECK-COUNT-16: call i32 @large(
; CHECK-NOT: call i32
; CHECK-NOT: declare i32

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

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

define internal i32 @large(i32 %x) {
  %v0 = call i32 @thousand(i32 %x)
  %v1 = call i32 @thousand(i32 %v0)
  ret i32 %v1
}

define internal i32 @once(i32 %x) {
  %v0 = call i32 @thousand(i32 %x)
  ret i32 %v0
}

define internal i32 @meeting(i32 %x) {
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %v0 = call i32 @thousand(i32 %x)
  ret i32 %v0
}

define internal i32 @always(i32 %x) alwaysinline {
  %v0 = call i32 @thousand(i32 %x)
  ret i32 %v0
}

define internal i32 @large_variables(i32 %x) {
  %array = alloca [9000 x i32]
  %slot = getelementptr i32, ptr %array, i32 %x
  store volatile i32 %x, ptr %slot
  %y = call i32 @thousand(i32 %x)
  ret i32 %y
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  %v0 = call i32 @once(i32 %x)
  %v1 = call i32 @meeting(i32 %v0)
  %v2 = call i32 @meeting(i32 %v1)
  %v3 = call i32 @always(i32 %v2)
  %v4 = call i32 @always(i32 %v3)
  %v5 = call i32 @large_variables(i32 %v4)
  %v6 = call i32 @large_variables(i32 %v5)
  %v7 = call i32 @large(i32 %v6)
  %v8 = call i32 @large(i32 %v7)
  %v9 = call i32 @large(i32 %v8)
  %v10 = call i32 @large(i32 %v9)
  %v11 = call i32 @large(i32 %v10)
  %v12 = call i32 @large(i32 %v11)
  %v13 = call i32 @large(i32 %v12)
  %v14 = call i32 @large(i32 %v13)
  %v15 = call i32 @large(i32 %v14)
  %v16 = call i32 @large(i32 %v15)
  %v17 = call i32 @large(i32 %v16)
  %v18 = call i32 @large(i32 %v17)
  %v19 = call i32 @large(i32 %v18)
  %v20 = call i32 @large(i32 %v19)
  %v21 = call i32 @large(i32 %v20)
  %v22 = call i32 @large(i32 %v21)
  store i32 %v22, ptr addrspace(1) %out
  ret void
}
