; Vectors that several blocks want, one of which often runs, stay where they are computed. One that is for a single block,
; or for what seldom runs, may go there.
; RUN: hold_vectors

; CHECK-LABEL: define void @kernel(
; CHECK: [[SUM:%.*]] = add <32 x i32> %x, %x
; CHECK-NEXT: call void (...) @llvm.fake.use(<32 x i32> [[SUM]])
; CHECK-NOT: fake.use
; CHECK: ret void

define void @kernel(ptr %p, i1 %first, i1 %second) {
  %x = load <32 x i32>, ptr %p
  %sum = add <32 x i32> %x, %x
  %single = mul <32 x i32> %x, %x
  %seldom = shl <32 x i32> %x, splat (i32 3)
  br i1 %first, label %often, label %end, !prof !0

often:
  store <32 x i32> %sum, ptr %p
  br i1 %second, label %again, label %end

again:
  %difference = sub <32 x i32> %sum, %single
  store <32 x i32> %difference, ptr %p
  br i1 %first, label %end, label %rare, !prof !0

rare:
  store <32 x i32> %seldom, ptr %p
  br i1 %second, label %end, label %rarer

rarer:
  store <32 x i32> %seldom, ptr %p
  br label %end

end:
  ret void
}

!0 = !{!"branch_weights", i32 2000, i32 1}
