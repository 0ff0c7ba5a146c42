; Buffers that are written share nothing with others, as usual code for a GPU may count on. Those that are not written are
; read without an order.
; RUN: mark_apart lower_arguments_of_a_gpu mark_invariant
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK: define ptx_kernel void @metalloid_kernel(
; CHECK-DAG: [[X:%.*]] = call {{.*}}@metalloid_argument.1(i32 0)
; CHECK-DAG: [[OUT:%.*]] = call {{.*}}@metalloid_argument.1(i32 1)
; CHECK: load i32, ptr addrspace(1) %{{.*}}, !invariant.load {{.*}}, !alias.scope [[OF_X:![0-9]+]], !noalias [[OF_OUT:![0-9]+]]
; CHECK: [[OLD:%.*]] = load i32, ptr addrspace(1) %{{[^,]*}}, align 4, !alias.scope [[OF_OUT]], !noalias [[OF_X]]
; CHECK: store i32 {{.*}}, ptr addrspace(1) %{{[^,]*}}, align 4, !alias.scope [[OF_OUT]], !noalias [[OF_X]]

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %position) {
entry:
  %i = zext i32 %position to i64
  %place = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %value = load i32, ptr addrspace(1) %place
  %out.place = getelementptr i32, ptr addrspace(1) %out, i64 %i
  %old = load i32, ptr addrspace(1) %out.place
  %sum = add i32 %value, %old
  store i32 %sum, ptr addrspace(1) %out.place
  ret void
}
