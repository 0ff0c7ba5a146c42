; In a large program, loops with short bodies stay that choose places in variables which registers hold several times
; over, and those around them, which would be shorter then. Loops around smaller variables are unrolled.
; RUN: limit_unrolling
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %few.more, label %few, label %outer{{$}}
; CHECK: br i1 %inner.more, label %inner, label %latch, !llvm.loop [[INNER:![0-9]+]]
; CHECK: br i1 %outer.more, label %outer, label %end, !llvm.loop [[OUTER:![0-9]+]]
; CHECK-DAG: [[INNER]] = distinct !{[[INNER]], [[STAYS:![0-9]+]]}
; CHECK-DAG: [[OUTER]] = distinct !{[[OUTER]], [[STAYS]]}
; CHECK-DAG: [[STAYS]] = !{!"llvm.loop.unroll.disable"}

define void @kernel(ptr addrspace(1) %a) {
entry:
  %state = alloca [8 x i32]
  %x = alloca [64 x i32]
  %r = alloca [128 x i32]
  br label %few
few:
  %n = phi i64 [ 0, %entry ], [ %n.next, %few ]
  %from = getelementptr i32, ptr addrspace(1) %a, i64 %n
  %word = load i32, ptr addrspace(1) %from
  %word.2 = mul i32 %word, 3
  %word.3 = xor i32 %word.2, %word
  %word.4 = mul i32 %word.3, 5
  %word.5 = xor i32 %word.4, %word.2
  %word.6 = mul i32 %word.5, 7
  %word.7 = xor i32 %word.6, %word.3
  %word.8 = mul i32 %word.7, 9
  %word.9 = xor i32 %word.8, %word.4
  %word.10 = add i32 %word.9, %word.5
  %word.11 = xor i32 %word.10, %word.6
  %at = getelementptr [8 x i32], ptr %state, i64 0, i64 %n
  store i32 %word.11, ptr %at
  %n.next = add nuw i64 %n, 1
  %few.more = icmp ult i64 %n.next, 8
  br i1 %few.more, label %few, label %outer
outer:
  %i = phi i64 [ 0, %few ], [ %i.next, %latch ]
  %x.place = getelementptr [64 x i32], ptr %x, i64 0, i64 %i
  %x.i = load i32, ptr %x.place
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %carry = phi i32 [ 0, %outer ], [ %carry.next, %inner ]
  %k = add nuw i64 %i, %j
  %x.place.j = getelementptr [64 x i32], ptr %x, i64 0, i64 %j
  %x.j = load i32, ptr %x.place.j
  %r.place = getelementptr [128 x i32], ptr %r, i64 0, i64 %k
  %r.k = load i32, ptr %r.place
  %product = mul i32 %x.i, %x.j
  %low = and i32 %product, 65535
  %high = lshr i32 %product, 16
  %sum = add i32 %r.k, %low
  %with.carry = add i32 %sum, %carry
  %rest = and i32 %with.carry, 65535
  %over = lshr i32 %with.carry, 16
  %carry.next = add i32 %over, %high
  store i32 %rest, ptr %r.place
  %j.next = add nuw i64 %j, 1
  %inner.more = icmp ult i64 %j.next, 64
  br i1 %inner.more, label %inner, label %latch
latch:
  %i.next = add nuw i64 %i, 1
  %outer.more = icmp ult i64 %i.next, 64
  br i1 %outer.more, label %outer, label %end
end:
  %some = load i32, ptr %state
  %last = getelementptr [128 x i32], ptr %r, i64 0, i64 127
  %other = load i32, ptr %last
  %both = add i32 %some, %other
  store i32 %both, ptr addrspace(1) %a
  ret void
}
