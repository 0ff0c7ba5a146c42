; Variables become registers and arithmetic is done, but what lanes do together stays where it is, as often as it is.
; RUN: simplify

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: alloca
; CHECK: br i1 %c, label %[[THEN:.*]], label %[[ELSE:.*]]
; CHECK: [[THEN]]:
; CHECK: call i32 @metalloid.simd.sum.u32(i32 %x)
; CHECK: [[ELSE]]:
; CHECK: call i32 @metalloid.simd.sum.u32(i32 %x)
; CHECK: call i32 @metalloid.simd.sum.u32(i32 1)
; CHECK: call i32 @metalloid.simd.sum.u32(i32 1)
; CHECK: store i32 %{{.*}}, ptr addrspace(1) %out
; CHECK-NEXT: ret void

declare i32 @metalloid.simd.sum.u32(i32) convergent nounwind memory(inaccessiblemem: readwrite)

define void @kernel(ptr addrspace(1) %out, i1 %c, i32 %x) convergent {
  %v = alloca i32
  br i1 %c, label %then, label %else
then:
  %a = call i32 @metalloid.simd.sum.u32(i32 %x) convergent
  store i32 %a, ptr %v
  br label %end
else:
  %b = call i32 @metalloid.simd.sum.u32(i32 %x) convergent
  store i32 %b, ptr %v
  br label %end
end:
  %w = load i32, ptr %v
  %one = sub i32 3, 2
  %d = call i32 @metalloid.simd.sum.u32(i32 %one) convergent
  %e = call i32 @metalloid.simd.sum.u32(i32 %one) convergent
  %s = add i32 %d, %e
  %t = add i32 %s, %w
  store i32 %t, ptr addrspace(1) %out
  ret void
}
