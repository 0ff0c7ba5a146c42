; A large function loses what is computed or loaded twice; a small one also loads that only one of two ways lacks.
; RUN: drop_repeated
; RUN(SMALL): drop_repeated_in_small

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK: join:
; CHECK: mul i32
; CHECK-NOT: mul i32
; CHECK: load i32
; CHECK-NOT: load i32
; CHECK: ret void

; SMALL-LABEL: define {{.*}}@kernel(
; SMALL: join:
; SMALL-NOT: load i32
; SMALL: ret void

define void @kernel(ptr addrspace(1) noalias %out, ptr addrspace(1) noalias %in, i32 %x, i1 %way) {
entry:
  br i1 %way, label %left, label %right

left:
  %l = load i32, ptr addrspace(1) %in
  store i32 %l, ptr addrspace(1) %out
  br label %join

right:
  store i32 1, ptr addrspace(1) %in
  br label %join

join:
  %a = mul i32 %x, %x
  %b = mul i32 %x, %x
  %c = load i32, ptr addrspace(1) %in
  %d = load i32, ptr addrspace(1) %in
  %s = add i32 %a, %c
  %t = add i32 %b, %d
  store i32 %s, ptr addrspace(1) %out
  %out2 = getelementptr i32, ptr addrspace(1) %out, i32 1
  store i32 %t, ptr addrspace(1) %out2
  ret void
}
