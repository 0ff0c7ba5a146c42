; Short loops that can be counted do eight turns at once, or all that there are if these are few; not those that lanes meet in, or that say otherwise.
; RUN: unroll_loops
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %more, label %loop, label %between, !llvm.loop [[UNROLLED:![0-9]+]]
; CHECK: br i1 %more.2, label %meeting, label %third{{$}}
; CHECK: br i1 %more.3, label %as.said, label %short, !llvm.loop [[SAID:![0-9]+]]
; CHECK: br i1 %more.4, label %short, label %end, !llvm.loop [[SHORT:![0-9]+]]
; CHECK: [[UNROLLED]] = distinct !{[[UNROLLED]], [[COUNT:![0-9]+]]}
; CHECK: [[COUNT]] = !{!"llvm.loop.unroll.count", i32 8}
; CHECK: [[SAID]] = distinct !{[[SAID]], [[DISABLED:![0-9]+]]}
; CHECK: [[DISABLED]] = !{!"llvm.loop.unroll.disable"}
; CHECK: [[SHORT]] = distinct !{[[SHORT]], [[ALL:![0-9]+]]}
; CHECK: [[ALL]] = !{!"llvm.loop.unroll.count", i32 12}

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
  br i1 %more.4, label %short, label %end
end:
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.all(i32)

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
