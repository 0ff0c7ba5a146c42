; Functions are handed what they read, and one of few instructions is inlined.
; RUN: shorten_calls

; CHECK-LABEL: define void @kernel(
; CHECK: add <16 x i32> %x, %y
; CHECK: [[SUM:%.*]] = select
; CHECK: call <16 x i32> @power(<16 x i32> [[SUM]], i32 7)
; CHECK: call <16 x i32> @twice(<16 x i32> [[SUM]])
; CHECK-NOT: @sum

define void @kernel(ptr %p, ptr %q, ptr %state) {
  %x = load <16 x i32>, ptr %p
  %y = load <16 x i32>, ptr %q
  %sum = call <16 x i32> @sum(<16 x i32> %x, <16 x i32> %y, ptr %state, i32 -1)
  %power = call <16 x i32> @power(<16 x i32> %sum, ptr %state, i32 7)
  %twice = call <16 x i32> @twice(<16 x i32> %sum, ptr %state, i32 -1)
  store <16 x i32> %power, ptr %p
  store <16 x i32> %twice, ptr %q
  ret void
}

define internal <16 x i32> @sum(<16 x i32> %a, <16 x i32> %b, ptr %state, i32 %lanes) noinline {
  %sum = add <16 x i32> %a, %b
  %less = icmp ugt <16 x i32> %sum, splat (i32 100)
  %rest = sub <16 x i32> %sum, splat (i32 101)
  %result = select <16 x i1> %less, <16 x i32> %rest, <16 x i32> %sum
  ret <16 x i32> %result
}

; Two blocks.
define internal <16 x i32> @power(<16 x i32> %a, ptr %state, i32 %exponent) noinline {
entry:
  br label %loop

loop:
  %left = phi i32 [ %exponent, %entry ], [ %less, %loop ]
  %power = phi <16 x i32> [ %a, %entry ], [ %more, %loop ]
  %more = mul <16 x i32> %power, %a
  %less = sub i32 %left, 1
  %done = icmp eq i32 %less, 0
  br i1 %done, label %end, label %loop

end:
  ret <16 x i32> %more
}

; More than its call takes.
define internal <16 x i32> @twice(<16 x i32> %a, ptr %state, i32 %lanes) noinline {
  %b = mul <16 x i32> %a, %a
  %c = xor <16 x i32> %b, %a
  %d = mul <16 x i32> %c, %a
  %e = xor <16 x i32> %d, %a
  %f = mul <16 x i32> %e, %a
  ret <16 x i32> %f
}
