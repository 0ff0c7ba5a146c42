; Each access of memory that others may see gets a question in front of it, meetings one on both sides, and a division
; by what may be zero one behind it. A plain place inside of a thread's own variable needs none.
; RUN: instrument_for_checks
; RUN(SIMPLE): instrument_for_checks simplify

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: @metalloid.check.access.p0
; CHECK: [[X:%.*]] = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %x, i64 4, i64 0, i32 {{[0-9]+}})
; CHECK-NEXT: %value = load i32, ptr addrspace(1) [[X]]
; CHECK: call void @metalloid.check.meeting(i32 0, i32 2, i32 0)
; CHECK-NEXT: call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
; CHECK-NEXT: call void @metalloid.check.meeting(i32 1, i32 2, i32 0)
; CHECK: [[HOLDS:%.*]] = icmp ne i32 %value, 0
; CHECK-NEXT: %quotient = udiv i32 100, %divisor
; CHECK-NEXT: [[QUOTIENT:%.*]] = call i32 @metalloid.check.division.i32(i32 %quotient, i1 [[HOLDS]])
; CHECK: [[BITS:%.*]] = zext i32 [[QUOTIENT]] to i64
; CHECK-NEXT: call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %x, i64 4, i64 [[BITS]], i32 {{[0-9]+}})
; CHECK: call void @metalloid.check.end()
; CHECK-NEXT: ret void

; A division whose result nobody uses goes away with its question, and a load stays.
; SIMPLE-LABEL: define void @kernel(
; SIMPLE: call {{.*}}@metalloid.check.access.p1(ptr addrspace(1) %x,
; SIMPLE: call {{.*}}@metalloid.check.access.p1(ptr addrspace(1) %other,
; SIMPLE-NOT: urem
; SIMPLE: call i32 @metalloid.check.division.i32(i32 %quotient,
; SIMPLE-NOT: @metalloid.check.division
; SIMPLE: ret void

declare void @metalloid.threadgroup_barrier(i32, i32, i32)

define void @kernel(ptr addrspace(1) %x) {
  %unused = alloca i32, align 4
  %own = alloca [4 x i32], align 4
  %value = load i32, ptr addrspace(1) %x, align 4
  %third = getelementptr i32, ptr %own, i64 3
  store i32 %value, ptr %third, align 4
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %other = getelementptr i32, ptr addrspace(1) %x, i64 1
  %more = load i32, ptr addrspace(1) %other, align 4
  %odd = icmp eq i32 %more, 0
  %modulus = select i1 %odd, i32 1, i32 %more
  %rest = urem i32 100, %modulus
  store i32 %rest, ptr %unused, align 4
  %zero = icmp eq i32 %value, 0
  %divisor = select i1 %zero, i32 1, i32 %value
  %quotient = udiv i32 100, %divisor
  store i32 %quotient, ptr addrspace(1) %x, align 4
  ret void
}
