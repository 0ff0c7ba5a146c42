; Questions for a simdgroup's lanes together: of memory that is written, by the argument; of memory that is only read
; whether places are where elements begin, and for the bounds. Those of variables are compared in place.
; RUN: screen_checks
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK: @metalloid_screened_roots = constant [3 x [4 x i32]] {{\[}}[4 x i32] [i32 0, i32 2, i32 2, i32 1], [4 x i32] [i32 1, i32 2, i32 2, i32 0], [4 x i32] [i32 -1, i32 4, i32 0, i32 0]]
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: call
; CHECK: call void @metalloid.screen.expect(i1
; CHECK: call void @metalloid.screen.access.p1(ptr addrspace(1) %odd, i32 1, i64 4, i32 577)
; CHECK-NEXT: load i32, ptr addrspace(1) %odd
; CHECK: [[INSIDE:%.*]] = and i1
; CHECK: call void @metalloid.screen.expect(i1 [[INSIDE]])
; CHECK: call void @metalloid.screen.access.p1(ptr addrspace(1) %to, i32 0, i64 4, i32 {{[0-9]+}})
; CHECK-NEXT: store i32 %value, ptr addrspace(1) %to
; CHECK: call void @metalloid.screen.expect(i1 %holds)
; CHECK: store i32 %quotient, ptr addrspace(1) %to
; CHECK: call void @metalloid.screen.end()

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)
declare i32 @metalloid.check.division.i32(i32, i1)
declare ptr @metalloid.check.access.p0(ptr, i64, i64, i32)
declare void @metalloid.check.end()

define void @kernel(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %i) {
  %own = alloca [4 x i32], align 4
  %odd = getelementptr i8, ptr addrspace(1) %in, i64 %i
  %from = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %odd, i64 4, i64 0, i32 513)
  %value = load i32, ptr addrspace(1) %from, align 4
  %mine = getelementptr i32, ptr %own, i64 %i
  %place = call ptr @metalloid.check.access.p0(ptr %mine, i64 4, i64 0, i32 514)
  store i32 %value, ptr %place, align 4
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %i
  %checked = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %to, i64 4, i64 0, i32 514)
  store i32 %value, ptr addrspace(1) %checked, align 4
  %holds = icmp ne i32 %value, 0
  %quotient = udiv i32 7, %value
  %result = call i32 @metalloid.check.division.i32(i32 %quotient, i1 %holds)
  store i32 %result, ptr addrspace(1) %to, align 4
  call void @metalloid.check.end()
  ret void
}
