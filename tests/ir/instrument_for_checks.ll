; Each access of memory that others may see gets a question in front of it, meetings one on both sides, and a division
; by what may be zero one beside it. A plain place inside of a thread's own variable needs none.
; RUN: instrument_for_checks

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: @metalloid.check.access.p0
; CHECK: [[X:%.*]] = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %x, i64 4, i64 0, i32 {{[0-9]+}})
; CHECK-NEXT: %value = load i32, ptr addrspace(1) [[X]]
; CHECK: call void @metalloid.check.meeting(i32 0, i32 2, i32 0)
; CHECK-NEXT: call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
; CHECK-NEXT: call void @metalloid.check.meeting(i32 1, i32 2, i32 0)
; CHECK: [[HOLDS:%.*]] = icmp ne i32 %value, 0
; CHECK-NEXT: call void @metalloid.check.expect(i1 [[HOLDS]], i32 12, ptr null)
; CHECK: [[BITS:%.*]] = zext i32 %quotient to i64
; CHECK-NEXT: call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %x, i64 4, i64 [[BITS]], i32 {{[0-9]+}})
; CHECK: call void @metalloid.check.end()
; CHECK-NEXT: ret void

declare void @metalloid.threadgroup_barrier(i32, i32, i32)

define void @kernel(ptr addrspace(1) %x) {
  %own = alloca [4 x i32], align 4
  %value = load i32, ptr addrspace(1) %x, align 4
  %third = getelementptr i32, ptr %own, i64 3
  store i32 %value, ptr %third, align 4
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %zero = icmp eq i32 %value, 0
  %divisor = select i1 %zero, i32 1, i32 %value
  %quotient = udiv i32 100, %divisor
  store i32 %quotient, ptr addrspace(1) %x, align 4
  ret void
}
