; A loop that reads neighbours has another form for addresses that are aligned so that one access reads them all. Of those
; in which lanes differ by less nothing is asked.
; RUN: align_loops
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: ptrtoint ptr addrspace(1) %x to i64
; CHECK: and i32 %{{.*}}, 7
; CHECK: [[ALIGNED:%.*]] = icmp eq i32 %{{.*}}, 0
; CHECK-NEXT: br i1 [[ALIGNED]], label %[[FORM:.*]], label %[[OTHER:.*]]
; CHECK: load i16, ptr addrspace(1) %p.aligned, align 8, !invariant.load !{{[0-9]+}}, !metalloid.aligned
; CHECK: load i16, ptr addrspace(1) %p.1.aligned, align 2, !invariant.load !{{[0-9]+}}, !metalloid.aligned
; CHECK: load i16, ptr addrspace(1) %p.2.aligned, align 4, !invariant.load !{{[0-9]+}}, !metalloid.aligned
; CHECK: load i16, ptr addrspace(1) %p.3.aligned, align 2, !invariant.load !{{[0-9]+}}, !metalloid.aligned
; CHECK: load i16, ptr addrspace(1) %q.aligned, align 2, !invariant.load !{{[0-9]+$}}
; CHECK: load i16, ptr addrspace(1) %q.1.aligned, align 2, !invariant.load !{{[0-9]+$}}
; CHECK: load i16, ptr addrspace(1) %p, align 2, !invariant.load !{{[0-9]+$}}

define void @kernel(ptr addrspace(1) align 2 %x, ptr addrspace(1) %out) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane.wide = zext i32 %lane to i64
  %of.lane = mul i64 %lane.wide, 18
  %odd = getelementptr i8, ptr addrspace(1) %x, i64 %of.lane
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i16 [ 0, %entry ], [ %sum.6, %loop ]
  %p = getelementptr i8, ptr addrspace(1) %x, i64 %i
  %p.1 = getelementptr i8, ptr addrspace(1) %p, i64 2
  %p.2 = getelementptr i8, ptr addrspace(1) %p, i64 4
  %p.3 = getelementptr i8, ptr addrspace(1) %p, i64 6
  %q = getelementptr i8, ptr addrspace(1) %odd, i64 %i
  %q.1 = getelementptr i8, ptr addrspace(1) %q, i64 2
  %a = load i16, ptr addrspace(1) %p, align 2, !invariant.load !0
  %b = load i16, ptr addrspace(1) %p.1, align 2, !invariant.load !0
  %c = load i16, ptr addrspace(1) %p.2, align 2, !invariant.load !0
  %d = load i16, ptr addrspace(1) %p.3, align 2, !invariant.load !0
  %e = load i16, ptr addrspace(1) %q, align 2, !invariant.load !0
  %f = load i16, ptr addrspace(1) %q.1, align 2, !invariant.load !0
  %sum.1 = add i16 %sum, %a
  %sum.2 = add i16 %sum.1, %b
  %sum.3 = add i16 %sum.2, %c
  %sum.4 = add i16 %sum.3, %d
  %sum.5 = add i16 %sum.4, %e
  %sum.6 = add i16 %sum.5, %f
  %next = add nuw i64 %i, 512
  %more = icmp ult i64 %next, 4096
  br i1 %more, label %loop, label %end
end:
  store i16 %sum.6, ptr addrspace(1) %out
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!0 = !{}
