; Operations across lanes name the lanes: all, those in an arm of a branch, and of that in turn those in an arm; also in
; a loop that all leave together. Branches between which nobody meets do not matter. Ends of turns are gone.
; RUN: explicit_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_simdgroup
; ARGUMENT: threads_per_grid

; CHECK-LABEL: define void @kernel(
; CHECK: [[PRESENT:%.*]] = call i32 @metalloid.lanes.present()
; CHECK: [[ARM:%.*]] = call i32 @metalloid.lanes.where(i32 [[PRESENT]], i1 %c)
; CHECK-NEXT: br i1 %c, label %arm, label %all
; CHECK: arm:
; CHECK: call i32 @metalloid.masked.simd.sum.i32(i32 [[ARM]], i32 %lane)
; CHECK: [[NOT:%.*]] = xor i1 %d, true
; CHECK-NEXT: [[INNER:%.*]] = call i32 @metalloid.lanes.where(i32 [[ARM]], i1 [[NOT]])
; CHECK: inner:
; CHECK: call void @metalloid.masked.simdgroup_barrier(i32 [[INNER]], i32 0, i32 0, i32 4)
; CHECK: behind:
; CHECK: call i64 @metalloid.masked.simd.ballot(i32 [[ARM]], i1 true)
; CHECK: all:
; CHECK: loop:
; CHECK: call i32 @metalloid.masked.quad.shuffle.b32(i32 [[PRESENT]], i32 %i, i32 1)
; CHECK: call void @metalloid.masked.threadgroup_barrier(i32 [[PRESENT]], i32 2, i32 0, i32 1)
; CHECK-NOT: turn_end
; CHECK: ret void

declare i32 @metalloid.simd.sum.i32(i32) convergent
declare i32 @metalloid.quad.shuffle.b32(i32, i32) convergent
declare i64 @metalloid.simd.ballot(i1) convergent
declare void @metalloid.simdgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.turn_end() convergent

define void @kernel(ptr addrspace(1) %out, i32 %lane, i32 %count) convergent {
entry:
  %own = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  %c = icmp ult i32 %lane, 5
  br i1 %c, label %arm, label %all
arm:
  %s = call i32 @metalloid.simd.sum.i32(i32 %lane)
  store i32 %s, ptr addrspace(1) %own
  %d = icmp ult i32 %lane, 3
  br i1 %d, label %behind, label %inner
inner:
  call void @metalloid.simdgroup_barrier(i32 0, i32 0, i32 4)
  br label %behind
behind:
  %lanes = call i64 @metalloid.simd.ballot(i1 true)
  br label %all
all:
  %odd = trunc i32 %lane to i1
  br i1 %odd, label %write, label %before
write:
  store i32 1, ptr addrspace(1) %own
  br label %before
before:
  br label %loop
loop:
  %i = phi i32 [ 0, %before ], [ %next, %loop ]
  %q = call i32 @metalloid.quad.shuffle.b32(i32 %i, i32 1)
  store i32 %q, ptr addrspace(1) %own
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  call void @metalloid.turn_end()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}
