; Ends of turns stay, or come, where lanes meet on some ways to an exit of a loop.
; RUN: place_turn_ends

declare i32 @metalloid.simd.sum.u32(i32) convergent
declare void @metalloid.turn_end() convergent
declare i32 @metalloid.thread_index()

define i32 @always(i32 %x) convergent {
  %sum = call i32 @metalloid.simd.sum.u32(i32 %x) convergent
  ret i32 %sum
}

define i1 @sometimes(i32 %x) convergent {
entry:
  %c = icmp ugt i32 %x, 3
  br i1 %c, label %meet, label %end
meet:
  %sum = call i32 @metalloid.simd.sum.u32(i32 %x) convergent
  br label %end
end:
  %r = phi i1 [ true, %entry ], [ false, %meet ]
  ret i1 %r
}

; Lanes meet on their way out.
; CHECK-LABEL: define internal i32 @on_the_way_out(
; CHECK: cleanup:
; CHECK-NEXT: call void @metalloid.turn_end()
define i32 @on_the_way_out(i32 %x) convergent {
entry:
  %way = alloca i32
  br label %loop
loop:
  %t = call i32 @metalloid.thread_index()
  %c = icmp eq i32 %t, %x
  br i1 %c, label %out, label %rest
out:
  %sum = call i32 @always(i32 %x) convergent
  store i32 3, ptr %way
  br label %cleanup
rest:
  store i32 0, ptr %way
  br label %cleanup
cleanup:
  call void @metalloid.turn_end()
  %to = load i32, ptr %way
  switch i32 %to, label %behind [ i32 0, label %loop ]
behind:
  ret i32 1
}

; They meet on the other way, which leads to the next turn, and where the loop begins: no exit comes behind the first,
; and the second is on every way round.
; CHECK-LABEL: define internal i32 @on_the_way_round(
; CHECK-NOT: turn_end
; CHECK: }
define i32 @on_the_way_round(i32 %x) convergent {
entry:
  %way = alloca i32
  br label %loop
loop:
  %all = call i32 @always(i32 %x) convergent
  %c = icmp eq i32 %all, %x
  br i1 %c, label %out, label %rest
out:
  store i32 3, ptr %way
  br label %cleanup
rest:
  %sum = call i32 @always(i32 %x) convergent
  store i32 0, ptr %way
  br label %cleanup
cleanup:
  call void @metalloid.turn_end()
  %to = load i32, ptr %way
  switch i32 %to, label %behind [ i32 0, label %loop ]
behind:
  ret i32 1
}

; Conditions: exits that no mark stands in front of get one, if lanes meet on some of the ways to them.
; CHECK-LABEL: define internal i32 @conditions(
; CHECK: first:
; CHECK-NOT: turn_end
; CHECK: second:
; CHECK-NEXT: call i1 @sometimes
; CHECK-NEXT: call void @metalloid.turn_end()
; CHECK-NEXT: br
; CHECK: third:
; CHECK-NOT: turn_end
; CHECK: third.end:
; CHECK-NEXT: phi
; CHECK-NEXT: br
define i32 @conditions(i32 %x) convergent {
entry:
  br label %first
first:
  %f = call i32 @always(i32 %x) convergent
  %f.c = icmp eq i32 %f, 0
  br i1 %f.c, label %second, label %first
second:
  %s = call i1 @sometimes(i32 %x) convergent
  br i1 %s, label %second, label %third
third:
  %t = call i32 @metalloid.thread_index()
  %t.c = icmp eq i32 %t, 0
  br i1 %t.c, label %third.right, label %third.end
third.right:
  %r = call i32 @always(i32 %x) convergent
  %r.c = icmp eq i32 %r, 0
  br label %third.end
third.end:
  %go = phi i1 [ false, %third ], [ %r.c, %third.right ]
  br i1 %go, label %third, label %end
end:
  ret i32 0
}

; Nobody meets, or there is no loop.
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: turn_end
; CHECK: }
define void @kernel(ptr addrspace(1) %out, i32 %x) convergent {
entry:
  %a = call i32 @on_the_way_out(i32 %x) convergent
  %b = call i32 @on_the_way_round(i32 %x) convergent
  %c = call i32 @conditions(i32 %x) convergent
  call void @metalloid.turn_end()
  br label %loop
loop:
  %t = call i32 @metalloid.thread_index()
  %l = icmp eq i32 %t, %x
  call void @metalloid.turn_end()
  br i1 %l, label %loop, label %end
end:
  ret void
}
