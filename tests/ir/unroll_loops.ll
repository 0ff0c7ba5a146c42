; Short loops that can be counted do eight turns at once, or all that there are if these are few; not those that lanes meet in, or
; that say otherwise. Longer ones that read memory which nobody writes also do all that there are.
; RUN: unroll_loops
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %more, label %loop, label %between, !llvm.loop [[UNROLLED:![0-9]+]]
; CHECK: br i1 %more.2, label %meeting, label %third{{$}}
; CHECK: br i1 %more.3, label %as.said, label %short, !llvm.loop [[SAID:![0-9]+]]
; CHECK: br i1 %more.4, label %short, label %reading, !llvm.loop [[SHORT:![0-9]+]]
; CHECK: br i1 %more.5, label %reading, label %end, !llvm.loop [[READING:![0-9]+]]
; CHECK: [[UNROLLED]] = distinct !{[[UNROLLED]], [[COUNT:![0-9]+]]}
; CHECK: [[COUNT]] = !{!"llvm.loop.unroll.count", i32 8}
; CHECK: [[SAID]] = distinct !{[[SAID]], [[DISABLED:![0-9]+]]}
; CHECK: [[DISABLED]] = !{!"llvm.loop.unroll.disable"}
; CHECK: [[SHORT]] = distinct !{[[SHORT]], [[ALL:![0-9]+]]}
; CHECK: [[ALL]] = !{!"llvm.loop.unroll.count", i32 12}
; CHECK: [[READING]] = distinct !{[[READING]], [[TEN:![0-9]+]]}
; CHECK: [[TEN]] = !{!"llvm.loop.unroll.count", i32 10}

define void @kernel(ptr addrspace(1) %a) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %added, %loop ]
  %p = getelementptr float, ptr addrspace(1) %a, i32 %i
  %x = load float, ptr addrspace(1) %p
  %added = fadd float %sum, %x
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 256
  br i1 %more, label %loop, label %between
between:
  store float %added, ptr addrspace(1) %a
  br label %meeting
meeting:
  %i.2 = phi i32 [ 0, %between ], [ %next.2, %meeting ]
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %next.2 = add nuw i32 %i.2, 1
  %more.2 = icmp ult i32 %next.2, 256
  br i1 %more.2, label %meeting, label %third
third:
  br label %as.said
as.said:
  %i.3 = phi i32 [ 0, %third ], [ %next.3, %as.said ]
  %p.3 = getelementptr float, ptr addrspace(1) %a, i32 %i.3
  store float 0.0, ptr addrspace(1) %p.3
  %next.3 = add nuw i32 %i.3, 1
  %more.3 = icmp ult i32 %next.3, 256
  br i1 %more.3, label %as.said, label %short, !llvm.loop !0
short:
  %i.4 = phi i32 [ 0, %as.said ], [ %next.4, %short ]
  %p.4 = getelementptr float, ptr addrspace(1) %a, i32 %i.4
  store float 1.0, ptr addrspace(1) %p.4
  %next.4 = add nuw i32 %i.4, 1
  %more.4 = icmp ult i32 %next.4, 12
  br i1 %more.4, label %short, label %reading
reading:
  %i.5 = phi i32 [ 0, %short ], [ %next.5, %reading ]
  %sum.5 = phi float [ 0.0, %short ], [ %c63, %reading ]
  %p.5 = getelementptr float, ptr addrspace(1) %a, i32 %i.5
  %x.5 = load float, ptr addrspace(1) %p.5, !invariant.load !2
  %c0 = fadd float %sum.5, %x.5
  %c1 = fadd float %c0, %x.5
  %c2 = fadd float %c1, %x.5
  %c3 = fadd float %c2, %x.5
  %c4 = fadd float %c3, %x.5
  %c5 = fadd float %c4, %x.5
  %c6 = fadd float %c5, %x.5
  %c7 = fadd float %c6, %x.5
  %c8 = fadd float %c7, %x.5
  %c9 = fadd float %c8, %x.5
  %c10 = fadd float %c9, %x.5
  %c11 = fadd float %c10, %x.5
  %c12 = fadd float %c11, %x.5
  %c13 = fadd float %c12, %x.5
  %c14 = fadd float %c13, %x.5
  %c15 = fadd float %c14, %x.5
  %c16 = fadd float %c15, %x.5
  %c17 = fadd float %c16, %x.5
  %c18 = fadd float %c17, %x.5
  %c19 = fadd float %c18, %x.5
  %c20 = fadd float %c19, %x.5
  %c21 = fadd float %c20, %x.5
  %c22 = fadd float %c21, %x.5
  %c23 = fadd float %c22, %x.5
  %c24 = fadd float %c23, %x.5
  %c25 = fadd float %c24, %x.5
  %c26 = fadd float %c25, %x.5
  %c27 = fadd float %c26, %x.5
  %c28 = fadd float %c27, %x.5
  %c29 = fadd float %c28, %x.5
  %c30 = fadd float %c29, %x.5
  %c31 = fadd float %c30, %x.5
  %c32 = fadd float %c31, %x.5
  %c33 = fadd float %c32, %x.5
  %c34 = fadd float %c33, %x.5
  %c35 = fadd float %c34, %x.5
  %c36 = fadd float %c35, %x.5
  %c37 = fadd float %c36, %x.5
  %c38 = fadd float %c37, %x.5
  %c39 = fadd float %c38, %x.5
  %c40 = fadd float %c39, %x.5
  %c41 = fadd float %c40, %x.5
  %c42 = fadd float %c41, %x.5
  %c43 = fadd float %c42, %x.5
  %c44 = fadd float %c43, %x.5
  %c45 = fadd float %c44, %x.5
  %c46 = fadd float %c45, %x.5
  %c47 = fadd float %c46, %x.5
  %c48 = fadd float %c47, %x.5
  %c49 = fadd float %c48, %x.5
  %c50 = fadd float %c49, %x.5
  %c51 = fadd float %c50, %x.5
  %c52 = fadd float %c51, %x.5
  %c53 = fadd float %c52, %x.5
  %c54 = fadd float %c53, %x.5
  %c55 = fadd float %c54, %x.5
  %c56 = fadd float %c55, %x.5
  %c57 = fadd float %c56, %x.5
  %c58 = fadd float %c57, %x.5
  %c59 = fadd float %c58, %x.5
  %c60 = fadd float %c59, %x.5
  %c61 = fadd float %c60, %x.5
  %c62 = fadd float %c61, %x.5
  %c63 = fadd float %c62, %x.5
  %next.5 = add nuw i32 %i.5, 1
  %more.5 = icmp ult i32 %next.5, 10
  br i1 %more.5, label %reading, label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.all(i32)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
!2 = !{}
