; Functions that stay calls get the launch's parameters and where the stack ends. An access in one is checked by the
; number that its pointer brings, a trap ends the thread, and calls ask for room on the stack and, now and then, whether
; the host wants the kernel to end; all report at one place of their function.
; RUN: tag_pointers lower_arguments_of_a_gpu pass_parameters check_bounds_of_functions_of_a_gpu lower_failures_of_a_gpu
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: [[STACK:%.*]] = call ptr @llvm.stacksave.p0()
; CHECK: [[NUMBER:%.*]] = ptrtoint ptr [[STACK]] to i64
; CHECK: [[END:%.*]] = sub i64 [[NUMBER]], 16384
; CHECK: call ptr @llvm.stacksave.p0()
; CHECK: icmp slt i64 {{%.*}}, 1040
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.clock()
; CHECK: call i32 @sum(ptr addrspace(1) {{%.*}}, i32 {{%.*}}, ptr %0, i64 [[END]])
; CHECK: report:
; CHECK: call void @llvm.nvvm.exit()

; CHECK-LABEL: define internal i32 @sum(ptr addrspace(1) %x, i32 %n, ptr %{{.*}}, i64 %stack_end)
; CHECK: getelementptr inbounds i8, ptr %{{.*}}, i64 72
; CHECK: icmp ult
; CHECK: load i32, ptr addrspace(1)
; CHECK: sub i64 {{%.*}}, %stack_end
; CHECK: call i32 @sum(ptr addrspace(1) {{%.*}}, i32 %less, ptr %{{.*}}, i64 %stack_end)
; CHECK-NOT: llvm.trap
; CHECK: report:
; CHECK: atomicrmw xchg ptr addrspace(1)
; CHECK: call void @llvm.nvvm.exit()

declare void @llvm.trap()

define void @kernel(ptr addrspace(1) %x, i32 %i) {
  %r = call i32 @sum(ptr addrspace(1) %x, i32 %i)
  store i32 %r, ptr addrspace(1) %x
  ret void
}

define internal i32 @sum(ptr addrspace(1) %x, i32 %n) noinline {
  %own = alloca [4 x i32]
  %value = load i32, ptr addrspace(1) %x
  %is_last = icmp eq i32 %n, 0
  br i1 %is_last, label %last, label %deeper
last:
  ret i32 %value
deeper:
  store i32 %n, ptr %own
  %is_wrong = icmp eq i32 %n, 77
  br i1 %is_wrong, label %wrong, label %right
wrong:
  call void @llvm.trap()
  unreachable
right:
  %less = sub i32 %n, 1
  %next = getelementptr i32, ptr addrspace(1) %x, i32 1
  %rest = call i32 @sum(ptr addrspace(1) %next, i32 %less)
  %both = add i32 %value, %rest
  ret i32 %both
}
