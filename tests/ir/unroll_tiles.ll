; Loops around matrix operations are unrolled, and the array that they index becomes values.
; RUN: unroll_tiles

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: alloca
; CHECK: call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float> %a, <2 x float> %b, <2 x float> zeroinitializer)
; CHECK-NOT: br
; CHECK: call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(
; CHECK-NOT: call <2 x float>
; CHECK: ret void

declare <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float>, <2 x float>, <2 x float>) convergent nounwind memory(none)

define void @kernel(ptr addrspace(1) %out, <2 x float> %a, <2 x float> %b) convergent {
entry:
  %sums = alloca [2 x <2 x float>]
  call void @llvm.memset.p0.i64(ptr %sums, i8 0, i64 16, i1 false)
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr [2 x <2 x float>], ptr %sums, i64 0, i64 %k
  %c = load <2 x float>, ptr %p
  %d = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float> %a, <2 x float> %b, <2 x float> %c) convergent
  store <2 x float> %d, ptr %p
  %next = add nuw nsw i64 %k, 1
  %end = icmp eq i64 %next, 2
  br i1 %end, label %done, label %loop
done:
  %x = load <2 x float>, ptr %sums
  %q = getelementptr [2 x <2 x float>], ptr %sums, i64 0, i64 1
  %y = load <2 x float>, ptr %q
  %z = fadd <2 x float> %x, %y
  store <2 x float> %z, ptr addrspace(1) %out
  ret void
}
