; A loop that lanes of an arm leave in different turns goes on in rounds among these lanes; behind it they are together.
; RUN: explicit_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_simdgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[PRESENT:%.*]] = call i32 @metalloid.lanes.present()
; CHECK: [[ARM:%.*]] = call i32 @metalloid.lanes.where(i32 [[PRESENT]], i1 %c)
; CHECK: behind:
; CHECK: call i32 @metalloid.masked.simd.sum.i32(i32 [[ARM]], i32 %next{{.*}})
; CHECK: all:
; CHECK: call i64 @metalloid.masked.simd.ballot(i32 [[PRESENT]], i1 true)
; CHECK: call void @metalloid.masked.threadgroup_barrier(i32 [[PRESENT]], i32 2, i32 0, i32 1)
; CHECK: ret void
; CHECK: round:
; CHECK: [[PLACE:%place.*]] = phi i32
; CHECK: [[FIRST:%.*]] = call i32 @metalloid.lanes.least(i32 [[ARM]], i32 [[PLACE]])
; CHECK: call i32 @metalloid.lanes.where(i32 [[ARM]], i1
; CHECK: switch i32 [[FIRST]], label %[[END:end.*]] [
; CHECK-NEXT: i32 0, label
; CHECK-NEXT: i32 1, label
; CHECK-NEXT: ]
; CHECK: [[END]]:
; CHECK-NEXT: br label %behind

declare i32 @metalloid.simd.sum.i32(i32) convergent
declare i64 @metalloid.simd.ballot(i1) convergent
declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.turn_end() convergent

define void @kernel(ptr addrspace(1) %out, i32 %lane) convergent {
entry:
  %own = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  %c = icmp ult i32 %lane, 20
  br i1 %c, label %arm, label %all
arm:
  br label %loop
loop:
  %i = phi i32 [ 0, %arm ], [ %next, %loop ]
  %s = call i32 @metalloid.simd.sum.i32(i32 %i)
  store i32 %s, ptr addrspace(1) %own
  call void @metalloid.turn_end()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %lane
  br i1 %more, label %loop, label %behind
behind:
  %t = call i32 @metalloid.simd.sum.i32(i32 %next)
  store i32 %t, ptr addrspace(1) %own
  br label %all
all:
  %lanes = call i64 @metalloid.simd.ballot(i1 true)
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  ret void
}
