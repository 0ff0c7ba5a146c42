; A message takes room in the log, whose address stands in the report, and is lost if there is none. The host's word says
; that there is something to see.
; RUN: lower_arguments_of_a_gpu pass_parameters lower_logging_of_a_gpu
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: [[LOG:%.*]] = load ptr addrspace(1), ptr addrspace(1)
; CHECK: [[PLACE:%.*]] = atomicrmw add ptr addrspace(1) {{%.*}}, i64 {{.*}} syncscope("device") monotonic, align 8
; CHECK: [[FITS:%.*]] = icmp ule i64 {{%.*}}, 4194304
; CHECK: br i1 [[FITS]], label %[[WRITE:.*]], label %[[LOST:.*]]
; CHECK: [[WRITE]]:
; CHECK: getelementptr inbounds i8, ptr addrspace(1) [[LOG]], i64 [[PLACE]]
; CHECK: store i64 ptrtoint (ptr addrspace(2) @format to i64)
; CHECK: call void @llvm.memcpy.p1.p0.i64(
; CHECK: [[LOST]]:
; CHECK: atomicrmw add ptr addrspace(1) {{%.*}}, i64 1 syncscope("device") monotonic, align 8
; CHECK: store volatile i32 1, ptr addrspace(1)
; CHECK-NOT: metalloid.log

@format = internal addrspace(2) constant [3 x i8] c"%u\00"

declare void @metalloid.log(i32, i32, ptr addrspace(2), ptr addrspace(2), ptr addrspace(2), ptr, i32) convergent

define void @kernel(ptr addrspace(1) %x, i32 %i) {
  %arguments = alloca [1 x [48 x i8]], align 8
  call void @metalloid.log(i32 %i, i32 2, ptr addrspace(2) null, ptr addrspace(2) null, ptr addrspace(2) @format, ptr %arguments, i32 1)
  ret void
}
