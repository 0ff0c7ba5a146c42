; Loops of few turns over a thread's own array are unrolled, with those inside of them; not what has no array, or too many turns.
; RUN: unroll_arrays
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %inner.more, label %inner, label %latch{{$}}
; CHECK: br i1 %more, label %rows, label %many, !llvm.loop [[WHOLE:![0-9]+]]
; CHECK: br i1 %many.more, label %many, label %end{{$}}
; CHECK: [[WHOLE]] = distinct !{[[WHOLE]], [[FULL:![0-9]+]]}
; CHECK: [[FULL]] = !{!"llvm.loop.unroll.full", i32 1}

define void @kernel(ptr addrspace(1) %a) {
entry:
  %sums = alloca [4 x float]
  %large = alloca [400 x float]
  br label %rows
rows:
  %row = phi i64 [ 0, %entry ], [ %next, %latch ]
  br label %inner
inner:
  %i = phi i64 [ 0, %rows ], [ %inner.next, %inner ]
  %sum = phi float [ 0.0, %rows ], [ %added, %inner ]
  %p = getelementptr float, ptr addrspace(1) %a, i64 %i
  %x = load float, ptr addrspace(1) %p
  %added = fadd float %sum, %x
  %inner.next = add nuw i64 %i, 1
  %inner.more = icmp ult i64 %inner.next, 8
  br i1 %inner.more, label %inner, label %latch
latch:
  %q = getelementptr [4 x float], ptr %sums, i64 0, i64 %row
  store float %added, ptr %q
  %next = add nuw i64 %row, 1
  %more = icmp ult i64 %next, 4
  br i1 %more, label %rows, label %many
many:
  %j = phi i64 [ 0, %latch ], [ %many.next, %many ]
  %r = getelementptr [400 x float], ptr %large, i64 0, i64 %j
  store float 0.0, ptr %r
  %many.next = add nuw i64 %j, 1
  %many.more = icmp ult i64 %many.next, 400
  br i1 %many.more, label %many, label %end
end:
  ret void
}
