; What a variable holds that nobody certainly wrote is followed to the store to device memory, and asked for there; its
; copy on the way is not. A quotient is asked for where a condition chose it; one that certainly reaches a use stays as it is.
; RUN: follow_undefined

; CHECK-LABEL: define void @kernel(
; CHECK: %sum.undefined = alloca [4 x i8]
; CHECK-NOT: @metalloid.check.variable
; CHECK: [[SUM:%.*]] = load i32, ptr
; CHECK-NOT: call void @metalloid.check.used
; CHECK: %twice = fmul float %value, 2.000000e+00
; CHECK: [[OPEN:%.*]] = icmp ne i32
; CHECK: [[BITS:%.*]] = sext i1 [[OPEN]] to i32
; CHECK: [[ANY:%.*]] = icmp ne i32 [[BITS]], 0
; CHECK: [[HOLDS:%.*]] = xor i1 [[ANY]], true
; CHECK-NEXT: call void @metalloid.check.used(i1 [[HOLDS]], i32 {{.*}})
; CHECK-NEXT: store float %twice, ptr addrspace(1) %x

; CHECK: call i32 @metalloid.check.division.i32(i32 %certain, i1 %is.well)
; CHECK-NOT: call i32 @metalloid.check.division
; CHECK: select i1 %chosen
; CHECK: call void @metalloid.check.used(

declare i32 @metalloid.check.division.i32(i32, i1) memory(none)
declare void @metalloid.check.variable(ptr)

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n, i1 %chosen) {
  %sum = alloca float, align 4
  call void @metalloid.check.variable(ptr %sum)
  br i1 %chosen, label %write, label %read
write:
  store float 1.0, ptr %sum, align 4
  br label %read
read:
  %value = load float, ptr %sum, align 4
  %twice = fmul float %value, 2.0
  store float %twice, ptr addrspace(1) %x, align 4
  %is.well = icmp ne i32 %n, 0
  %divisor = call i32 @llvm.umax.i32(i32 %n, i32 1)
  %certain = udiv i32 100, %divisor
  %one = call i32 @metalloid.check.division.i32(i32 %certain, i1 %is.well)
  store i32 %one, ptr addrspace(1) %y, align 4
  %perhaps = udiv i32 200, %divisor
  %two = call i32 @metalloid.check.division.i32(i32 %perhaps, i1 %is.well)
  %result = select i1 %chosen, i32 %two, i32 0
  store i32 %result, ptr addrspace(1) %y, align 4
  ret void
}
