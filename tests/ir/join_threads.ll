; Four threads side by side whose elements lie in rows go together, and one by one where a guard or a check holds one up.
; RUN: join_threads
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define ptx_kernel void @metalloid_kernel(
; CHECK: [[FIRST:%.*]] = mul nuw nsw i32 {{.*}}, 4
; CHECK: [[LAST:%.*]] = add nuw nsw i32 [[FIRST]], 3
; Of the guard that the grid is, the last thread's says enough.
; CHECK: [[INSIDE:%.*]] = icmp ult i32 [[LAST]],
; CHECK: select i1 [[INSIDE]], i1
; Indices that may wrap do not between the four.
; CHECK: icmp ule i32 {{.*}}, -4
; One check of all bytes.
; CHECK: call i64 @llvm.usub.sat.i64(i64 {{.*}}, i64 15)
; CHECK-NOT: call void @metalloid_check_bounds
; What lies anywhere is asked for its alignment.
; CHECK: and i32 {{.*}}, 15
; A warp decides.
; CHECK: [[ALL:%.*]] = call i1 @llvm.nvvm.vote.all.sync(i32 -1,
; CHECK: br i1 [[ALL]], label %[[TOGETHER:.*]], label %turn
; CHECK: [[TOGETHER]]:
; CHECK: [[ROW:%.*]] = load <4 x float>, ptr addrspace(1) {{.*}}, align 16
; CHECK: extractelement <4 x float> [[ROW]], i64 3
; CHECK: [[SUM:%.*]] = fadd float {{.*}}, 1.000000e+00
; CHECK: store <4 x float> {{.*}}, ptr addrspace(1) {{.*}}, align 16
; CHECK: ret void
; CHECK: turn:
; CHECK: phi i32
; CHECK: call void @metalloid_check_bounds(i64 {{.*}}, i64 4,
; CHECK: load float, ptr addrspace(1)
; CHECK: store float
; CHECK: icmp eq i32 {{.*}}, 4

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %offset = load i32, ptr addrspace(1) %in
  %shifted = add i32 %x, %offset
  %from = zext i32 %shifted to i64
  %source = getelementptr inbounds float, ptr addrspace(1) %in, i64 %from
  %value = load float, ptr addrspace(1) %source
  %sum = fadd float %value, 1.0
  %to = zext i32 %x to i64
  %place = getelementptr inbounds float, ptr addrspace(1) %out, i64 %to
  store float %sum, ptr addrspace(1) %place
  ret void
}
