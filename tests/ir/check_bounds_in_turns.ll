; In the rest of a loop its counter is less than what its condition leaves it at: no check of what lies inside then.
; RUN: check_bounds
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @kernel(
; CHECK: inner:
; CHECK-NOT: call void @metalloid_check_bounds
; CHECK: latch:
; CHECK: call void @metalloid_check_bounds(i64 {{.*}}, i64 4, i64 512,
; CHECK: beyond:
; CHECK: call void @metalloid_check_bounds(i64 {{.*}}, i64 4, i64 256,
; CHECK: ret void

define void @kernel(ptr addrspace(1) %a, i32 %position) {
entry:
  %x = alloca [64 x i32]
  %r = alloca [128 x i32]
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %outer.done = icmp eq i32 %i, 64
  br i1 %outer.done, label %beyond, label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %turn ]
  %inner.done = icmp eq i32 %j, 64
  br i1 %inner.done, label %latch, label %turn
turn:
  %sum = add nuw nsw i32 %i, %j
  %j.wide = zext nneg i32 %j to i64
  %sum.wide = zext nneg i32 %sum to i64
  %x.place = getelementptr inbounds i32, ptr %x, i64 %j.wide
  %x.j = load i32, ptr %x.place
  %r.place = getelementptr inbounds i32, ptr %r, i64 %sum.wide
  store i32 %x.j, ptr %r.place
  %j.next = add nuw nsw i32 %j, 1
  br label %inner
latch:
  ; %j is 64 here
  %twice = mul nuw nsw i32 %j, 2
  %far = zext nneg i32 %twice to i64
  %far.place = getelementptr inbounds i32, ptr %r, i64 %far
  store i32 1, ptr %far.place
  %i.next = add nuw nsw i32 %i, 1
  br label %outer
beyond:
  %end = zext nneg i32 %i to i64
  %end.place = getelementptr inbounds i32, ptr %x, i64 %end
  %value = load i32, ptr %end.place
  store i32 %value, ptr addrspace(1) %a
  ret void
}
