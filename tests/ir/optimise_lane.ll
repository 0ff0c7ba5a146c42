; Scalar optimisation of one lane's program: the loop is unrolled, so that its variable becomes values.
; RUN: optimise_lane

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK-NOT: alloca
; CHECK-NOT: br
; CHECK: mul i32 {{.*}}, 24
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out) {
entry:
  %a = alloca [4 x i32]
  %x = load i32, ptr addrspace(1) %out
  store i32 %x, ptr %a
  br label %loop
loop:
  %k = phi i32 [ 1, %entry ], [ %next, %loop ]
  %before = sub i32 %k, 1
  %from = getelementptr [4 x i32], ptr %a, i32 0, i32 %before
  %to = getelementptr [4 x i32], ptr %a, i32 0, i32 %k
  %value = load i32, ptr %from
  %factor = add i32 %k, 1
  %product = mul i32 %value, %factor
  store i32 %product, ptr %to
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 4
  br i1 %again, label %loop, label %end
end:
  %last = getelementptr [4 x i32], ptr %a, i32 0, i32 3
  %result = load i32, ptr %last
  store i32 %result, ptr addrspace(1) %out
  ret void
}
