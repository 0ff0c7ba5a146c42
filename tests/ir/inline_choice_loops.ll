; A call in a loop counts once for each turn if LLVM unrolls the loop: short ones, and longer ones whose source asks for
; it. So @unrolled is called a hundred times, and stays; @looped is called once.
; RUN: inline_functions

; CHECK-NOT: define internal
; CHECK: define internal i32 @unrolled(
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: call i32 @looped(
; CHECK: call i32 @unrolled(
; CHECK-NOT: call i32 @looped(

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

define internal i32 @unrolled(i32 %x) {
  %v0 = call i32 @thousand(i32 %x)
  %v1 = call i32 @thousand(i32 %v0)
  ret i32 %v1
}

define internal i32 @looped(i32 %x) {
  %v0 = call i32 @thousand(i32 %x)
  %v1 = call i32 @thousand(i32 %v0)
  ret i32 %v1
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  br label %first
first:
  %i = phi i32 [ 0, %0 ], [ %i.next, %first ]
  %y = phi i32 [ %x, %0 ], [ %y.next, %first ]
  %y.next = call i32 @unrolled(i32 %y)
  %i.next = add nuw nsw i32 %i, 1
  %i.more = icmp ult i32 %i.next, 100
  br i1 %i.more, label %first, label %second, !llvm.loop !0
second:
  %j = phi i32 [ 0, %first ], [ %j.next, %second ]
  %z = phi i32 [ %y.next, %first ], [ %z.next, %second ]
  %z.next = call i32 @looped(i32 %z)
  %j.next = add nuw nsw i32 %j, 1
  %j.more = icmp ult i32 %j.next, 100
  br i1 %j.more, label %second, label %done
done:
  store i32 %z.next, ptr addrspace(1) %out
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
