; Rows and columns can be counted, and may be 2^64 together: rows look at the host's word by the clock, columns do not.
; RUN: lower_arguments_of_a_gpu stop_loops
; ARGUMENT: buffer

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: %[[BEFORE:[0-9]+]] = phi i32 [ 0, %{{.*}} ], [ %period, %{{.*}} ]
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: icmp ne i32 %period, %[[BEFORE]]
; CHECK: load volatile i32, ptr addrspace(1)
; CHECK: call void @llvm.nvvm.exit()
; CHECK-NOT: clock64
; CHECK-NOT: volatile
; CHECK: store i32

define void @kernel(ptr addrspace(1) %x) {
entry:
  %count = load i32, ptr addrspace(1) %x
  %is_some = icmp ne i32 %count, 0
  br i1 %is_some, label %rows, label %end
rows:
  %row = phi i32 [ 0, %entry ], [ %next_row, %row_ends ]
  %sum = phi i32 [ 0, %entry ], [ %next_sum, %row_ends ]
  br label %columns
columns:
  %column = phi i32 [ 0, %rows ], [ %next_column, %columns ]
  %part = phi i32 [ %sum, %rows ], [ %next_sum, %columns ]
  %product = mul i32 %part, %column
  %next_sum = xor i32 %product, %row
  %next_column = add nuw i32 %column, 1
  %is_in = icmp ult i32 %next_column, %count
  br i1 %is_in, label %columns, label %row_ends
row_ends:
  %next_row = add nuw i32 %row, 1
  %goes_on = icmp ult i32 %next_row, %count
  br i1 %goes_on, label %rows, label %end
end:
  %result = phi i32 [ 0, %entry ], [ %next_sum, %row_ends ]
  store i32 %result, ptr addrspace(1) %x
  ret void
}
