; A quotient that a condition rules out where the divisor is zero is a question that is answered when the kernel is compiled.
; RUN: follow_undefined simplify

; CHECK-LABEL: define void @kernel(
; CHECK: call void @metalloid.check.used(i1 true,
; CHECK: ret void

declare i32 @metalloid.check.division.i32(i32, i1) memory(none)

define void @kernel(ptr addrspace(1) %y, i32 %n) {
  %is.well = icmp ne i32 %n, 0
  %divisor = call i32 @llvm.umax.i32(i32 %n, i32 1)
  %perhaps = udiv i32 200, %divisor
  %two = call i32 @metalloid.check.division.i32(i32 %perhaps, i1 %is.well)
  %result = select i1 %is.well, i32 %two, i32 0
  store i32 %result, ptr addrspace(1) %y, align 4
  ret void
}
