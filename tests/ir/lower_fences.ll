; One thread of the host runs a threadgroup, so only order among threadgroups needs the processor. Operands are flags
; (1 device memory, 2 threadgroup memory), order (0 relaxed, 2 acquire, 4 both, 5 sequential) and scope (1 threadgroup,
; 2 device, 4 simdgroup).
; RUN: lower_fences

; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: fence syncscope("singlethread") acquire
; CHECK-NEXT: fence syncscope("singlethread") release
; CHECK-NEXT: fence syncscope("singlethread") seq_cst
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: call void @metalloid.threadgroup_barrier(i32 1, i32 4, i32 1)
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: call void @metalloid.threadgroup_barrier(i32 1, i32 4, i32 2)
; CHECK-NEXT: fence acq_rel
; CHECK-NEXT: atomicrmw add ptr addrspace(1) %x, i32 1 acq_rel
; CHECK-NEXT: atomicrmw add ptr addrspace(3) %y, i32 1 syncscope("singlethread") monotonic
; CHECK-NEXT: ret void

declare void @metalloid.fence(i32, i32, i32)
declare void @metalloid.threadgroup_barrier(i32, i32, i32)

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %y, i32 %n) {
  call void @metalloid.fence(i32 1, i32 4, i32 2)
  call void @metalloid.fence(i32 3, i32 5, i32 2)
  call void @metalloid.fence(i32 1, i32 2, i32 1)
  call void @metalloid.fence(i32 1, i32 3, i32 4)
  call void @metalloid.fence(i32 2, i32 5, i32 2)
  call void @metalloid.fence(i32 %n, i32 %n, i32 %n)
  call void @metalloid.fence(i32 1, i32 0, i32 2)
  call void @metalloid.fence(i32 0, i32 5, i32 2)
  call void @metalloid.threadgroup_barrier(i32 1, i32 4, i32 1)
  call void @metalloid.threadgroup_barrier(i32 1, i32 4, i32 2)
  %1 = atomicrmw add ptr addrspace(1) %x, i32 1 syncscope("metalloid.device") acq_rel
  %2 = atomicrmw add ptr addrspace(3) %y, i32 1 syncscope("metalloid.threadgroup") monotonic
  ret void
}
