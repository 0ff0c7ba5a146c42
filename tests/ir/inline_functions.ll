; Calls are inlined, but for functions declared `noinline` and those of a cycle. An engine may want all but the latter.
; RUN: inline_functions
; RUN(EVERYTHING): inline_everything

; CHECK: define internal i32 @kept(
; CHECK: define internal i32 @cycle(
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: @inlined
; CHECK: call i32 @kept(
; CHECK: call i32 @cycle(

; EVERYTHING-NOT: @kept
; EVERYTHING-LABEL: define void @kernel(
; EVERYTHING-NOT: @inlined
; EVERYTHING-NOT: @kept
; EVERYTHING: call i32 @cycle(

define internal i32 @inlined(i32 %x) {
  %y = add i32 %x, 5
  ret i32 %y
}

define internal i32 @kept(i32 %x) noinline {
  %y = mul i32 %x, 7
  ret i32 %y
}

define internal i32 @cycle(i32 %x) {
  %end = icmp ult i32 %x, 2
  br i1 %end, label %done, label %again
again:
  %less = sub i32 %x, 1
  %y = call i32 @cycle(i32 %less)
  %z = mul i32 %x, %y
  ret i32 %z
done:
  ret i32 1
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  %a = call i32 @inlined(i32 %x)
  %b = call i32 @kept(i32 %a)
  %c = call i32 @cycle(i32 %b)
  store i32 %c, ptr addrspace(1) %out
  ret void
}
