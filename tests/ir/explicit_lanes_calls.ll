; Functions that stay calls are told which lanes call them together: a call is a place where lanes meet. In an arm of a
; branch, in both, and in the function itself, which returns in one place; where lanes leave a loop of calls, in rounds.
; RUN: explicit_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_simdgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[PRESENT:%.*]] = call i32 @metalloid.lanes.present()
; CHECK: [[ARM:%.*]] = call i32 @metalloid.lanes.where(i32 [[PRESENT]], i1 %c)
; CHECK: arm:
; CHECK: call i32 @count(i32 %lane, i32 [[ARM]])
; CHECK: all:
; CHECK: call i32 @count(i32 3, i32 [[PRESENT]])
; CHECK: call i32 @count(i32 {{%i.*}}, i32 [[SOME:%.*]])
; CHECK: call i32 @metalloid.lanes.least(i32 [[PRESENT]]
; CHECK: [[SOME]] = call i32 @metalloid.lanes.where(i32 [[PRESENT]]

; CHECK-LABEL: define internal i32 @count(i32 %n, i32 %lanes)
; CHECK-NOT: metalloid.lanes.present
; CHECK: call i32 @metalloid.masked.simd.sum.i32(i32 %lanes, i32 1)
; CHECK: [[DEEPER:%.*]] = call i32 @metalloid.lanes.where(i32 %lanes, i1
; CHECK: deeper:
; CHECK: call i32 @count(i32 %less, i32 [[DEEPER]])
; CHECK: returned:
; CHECK: [[VALUE:%.*]] = phi i32
; CHECK: ret i32 [[VALUE]]
; CHECK-NOT: ret i32
; CHECK-NOT: define {{.*}}@count(i32 %n) {

declare i32 @metalloid.simd.sum.i32(i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %lane) convergent {
entry:
  %own = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  %c = icmp ult i32 %lane, 5
  br i1 %c, label %arm, label %all
arm:
  %s = call i32 @count(i32 %lane) convergent
  store i32 %s, ptr addrspace(1) %own
  br label %all
all:
  %t = call i32 @count(i32 3) convergent
  store i32 %t, ptr addrspace(1) %own
  br label %loop
loop:
  %i = phi i32 [ 0, %all ], [ %next, %loop ]
  %u = call i32 @count(i32 %i) convergent
  %next = add i32 %i, %u
  %more = icmp ult i32 %next, %lane
  br i1 %more, label %loop, label %end
end:
  ret void
}

define internal i32 @count(i32 %n) convergent noinline {
  %is_last = icmp eq i32 %n, 0
  %sum = call i32 @metalloid.simd.sum.i32(i32 1)
  br i1 %is_last, label %last, label %deeper
last:
  ret i32 %sum
deeper:
  %less = sub i32 %n, 1
  %rest = call i32 @count(i32 %less) convergent
  %both = add i32 %sum, %rest
  ret i32 %both
}
