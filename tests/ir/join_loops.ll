; Lanes meet at the end of a turn if they meet in a branch of the loop, or in a loop within it; not if the last meeting
; is on every way round, or there are but barriers of the threadgroup. Ends of turns go where there is no loop any more,
; or no meeting in it.
; RUN: join_loops

; CHECK-LABEL: define void @kernel(
; CHECK: branch.join:
; CHECK-NEXT: phi
; CHECK-NEXT: call void @metalloid.turn_end()
; CHECK-NEXT: br label %branch
; CHECK: branch:
; CHECK: phi i32 [ 0, %entry ], [ %{{.*}}, %branch.join ]
; CHECK-NOT: turn_end
; CHECK: outer.join:
; CHECK-NEXT: call void @metalloid.turn_end()
; CHECK-NOT: turn_end
; CHECK: ret void

declare i32 @metalloid.simd.sum.u32(i32) convergent
declare void @metalloid.turn_end() convergent
declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %i) convergent {
entry:
  br label %branch
branch:
  %a = phi i32 [ 0, %entry ], [ %a.1, %meet ], [ %a.2, %skip ]
  %c = icmp ult i32 %a, %i
  br i1 %c, label %meet, label %skip
meet:
  %a.s = call i32 @metalloid.simd.sum.u32(i32 %a) convergent
  %a.1 = add i32 %a, 1
  br label %branch
skip:
  %a.2 = add i32 %a, 2
  %a.end = icmp ugt i32 %a.2, 10
  br i1 %a.end, label %always, label %branch
always:
  %b = phi i32 [ 0, %skip ], [ %b.1, %always ]
  %b.s = call i32 @metalloid.simd.sum.u32(i32 %b) convergent
  %b.1 = add i32 %b, 1
  %b.end = icmp ugt i32 %b.1, %i
  br i1 %b.end, label %unrolled, label %always
unrolled:
  call void @metalloid.turn_end()
  br label %outer
outer:
  %d = phi i32 [ 0, %unrolled ], [ %d.1, %outer.end ]
  br label %inner
inner:
  %e = phi i32 [ 0, %outer ], [ %e.1, %inner ]
  %e.s = call i32 @metalloid.simd.sum.u32(i32 %e) convergent
  %e.1 = add i32 %e, 1
  %e.done = icmp ugt i32 %e.1, %d
  br i1 %e.done, label %outer.end, label %inner
outer.end:
  %d.1 = add i32 %d, 1
  %d.done = icmp ugt i32 %d.1, %i
  br i1 %d.done, label %barriers, label %outer
barriers:
  %f = phi i32 [ 0, %outer.end ], [ %f.1, %next ]
  %f.c = icmp ult i32 %f, 5
  call void @metalloid.turn_end()
  br i1 %f.c, label %wait, label %next
wait:
  call void @metalloid.threadgroup_barrier(i32 0, i32 4, i32 1) convergent
  br label %next
next:
  %f.1 = add i32 %f, 1
  %f.done = icmp ugt i32 %f.1, 7
  br i1 %f.done, label %done, label %barriers
done:
  ret void
}
