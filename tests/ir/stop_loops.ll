; A loop whose turns nobody can count asks now and then whether the host wants the kernel to end. A short one does four
; turns from one look at the counter to the next.
; RUN: lower_arguments_of_a_gpu stop_loops
; ARGUMENT: buffer

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: %turns = phi i32
; CHECK-NOT: lshr i32
; CHECK: and i32 %turns, 16383
; CHECK: load volatile i32, ptr addrspace(1)
; CHECK: call void @llvm.nvvm.exit()
; CHECK-COUNT-4: lshr i32
; CHECK-NOT: lshr i32
; CHECK: store i32

define void @kernel(ptr addrspace(1) %x) {
entry:
  %first = load i32, ptr addrspace(1) %x
  br label %loop
loop:
  %value = phi i32 [ %first, %entry ], [ %next, %loop ]
  %bit = and i32 %value, 1
  %half = lshr i32 %value, 1
  %next = add i32 %half, %bit
  %is_last = icmp eq i32 %next, 1
  br i1 %is_last, label %end, label %loop
end:
  store i32 %next, ptr addrspace(1) %x
  ret void
}
