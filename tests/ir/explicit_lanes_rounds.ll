; Where lanes leave a loop in different turns the kernel goes on in rounds.
; RUN: explicit_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_simdgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[PRESENT:%.*]] = call i32 @metalloid.lanes.present()
; CHECK: br label %[[ROUND:round.*]]
; CHECK: [[ROUND]]:
; CHECK: [[PLACE:%place.*]] = phi i32
; CHECK: [[FIRST:%.*]] = call i32 @metalloid.lanes.least(i32 [[PRESENT]], i32 [[PLACE]])
; CHECK: [[HERE:%.*]] = icmp eq i32 [[PLACE]], [[FIRST]]
; CHECK: [[LANES:%.*]] = call i32 @metalloid.lanes.where(i32 [[PRESENT]], i1 [[HERE]])
; CHECK: switch i32 [[FIRST]], label %[[END:end.*]] [
; CHECK-NEXT: i32 0, label %[[SUM:.*]]
; CHECK-NEXT: i32 1, label %[[TURN:.*]]
; CHECK-NEXT: i32 2, label %[[BALLOT:.*]]
; CHECK-NEXT: i32 3, label %[[BARRIER:.*]]
; CHECK-NEXT: i32 4, label %[[BARRIER]]
; CHECK: [[SUM]]:
; CHECK-NEXT: br i1 [[HERE]], label %{{.*}}, label %[[ROUND]]
; CHECK: [[BARRIER]]:
; CHECK-NEXT: call void @metalloid.masked.threadgroup_barrier(i32 [[PRESENT]], i32 7, i32 0, i32 1)
; CHECK-NEXT: switch i32 [[PLACE]], label %[[ROUND]] [
; CHECK-NEXT: i32 3, label
; CHECK-NEXT: i32 4, label
; CHECK-NOT: turn_end

declare i32 @metalloid.simd.sum.i32(i32) convergent
declare i64 @metalloid.simd.ballot(i1) convergent
declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.turn_end() convergent

define void @kernel(ptr addrspace(1) %out, i32 %lane) convergent {
entry:
  %own = getelementptr i32, ptr addrspace(1) %out, i32 %lane
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = call i32 @metalloid.simd.sum.i32(i32 %i)
  store i32 %s, ptr addrspace(1) %own
  call void @metalloid.turn_end()
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %lane
  br i1 %more, label %loop, label %behind
behind:
  %odd = trunc i32 %lane to i1
  br i1 %odd, label %one, label %other
one:
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  br label %end
other:
  %lanes = call i64 @metalloid.simd.ballot(i1 true)
  call void @metalloid.threadgroup_barrier(i32 1, i32 0, i32 1)
  br label %end
end:
  ret void
}
