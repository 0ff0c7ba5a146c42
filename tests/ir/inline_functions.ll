; Calls are inlined, but for functions declared `noinline` and those of a cycle. An engine may want all but the latter,
; or those that lead to threadgroup barriers.
; RUN: inline_functions
; RUN(BARRIERS): inline_around_barriers
; RUN(EVERYTHING): inline_everything

; CHECK: define internal i32 @kept(
; CHECK: define internal i32 @waits(
; CHECK: define internal i32 @cycle(
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: @inlined
; CHECK: call i32 @kept(
; CHECK: call i32 @waits(
; CHECK: call i32 @cycle(

; BARRIERS: define internal i32 @kept(
; BARRIERS-NOT: @waits
; BARRIERS-LABEL: define void @kernel(
; BARRIERS: call i32 @kept(
; BARRIERS: call void @metalloid.threadgroup_barrier(
; BARRIERS: call i32 @cycle(

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

declare void @metalloid.threadgroup_barrier(i32, i32, i32)

define internal i32 @waits(i32 %x) noinline {
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  ret i32 %x
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
  %waited = call i32 @waits(i32 %b)
  %c = call i32 @cycle(i32 %waited)
  store i32 %c, ptr addrspace(1) %out
  ret void
}
