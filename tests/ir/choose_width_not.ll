; Lanes that have something to do with each other are 32, and so are those of programs of smaller numbers.
; RUN: choose_width
; CHECK-NOT: metalloid.step_width

define void @kernel(ptr addrspace(1) %in, i64 %a, i64 %b) {
  %c = mul i64 %a, %b
  %d = mul i64 %c, %c
  %e = mul i64 %d, %d
  %f = mul i64 %e, %e
  %sum = call i32 @metalloid.simd.sum.u32(i32 1)
  %wide = zext i32 %sum to i64
  %all = add i64 %wide, %f
  store i64 %all, ptr addrspace(1) %in
  ret void
}

declare i32 @metalloid.simd.sum.u32(i32)
