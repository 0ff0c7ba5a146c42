; Threads stay apart where their own data says how far they go: the four would seldom agree.
; RUN: join_threads
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define ptx_kernel void @metalloid_kernel(
; CHECK: call i32 @metalloid_thread_x()
; CHECK-NOT: load <4 x float>
; CHECK: store float

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %x) {
  %index = zext i32 %x to i64
  %source = getelementptr inbounds float, ptr addrspace(1) %in, i64 %index
  %value = load float, ptr addrspace(1) %source
  %is_positive = fcmp ogt float %value, 0.0
  br i1 %is_positive, label %write, label %end

write:
  %place = getelementptr inbounds float, ptr addrspace(1) %out, i64 %index
  store float %value, ptr addrspace(1) %place
  br label %end

end:
  ret void
}
