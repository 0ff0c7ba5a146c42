; The size of threadgroups, by the launch's parameters (kernel_abi.h) or by registers.
; RUN: know_threads

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: ntid
; CHECK: store i32 256, ptr addrspace(1) %out
; CHECK: store i32 2, ptr addrspace(1) %out
; CHECK: store i32 256, ptr addrspace(1) %out
; CHECK: [[GRID:%.*]] = load i32, ptr %parameters
; CHECK: store i32 [[GRID]], ptr addrspace(1) %out
; CHECK: call range(i32 0, 256) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK: store i32 0, ptr addrspace(1) %out

define void @kernel(ptr %parameters, ptr addrspace(1) %out) {
  %at.x = getelementptr i8, ptr %parameters, i64 24
  %x = load i32, ptr %at.x
  store i32 %x, ptr addrspace(1) %out
  %at.y = getelementptr i8, ptr %parameters, i64 28
  %y = load i32, ptr %at.y
  store i32 %y, ptr addrspace(1) %out
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  store i32 %width, ptr addrspace(1) %out
  %grid = load i32, ptr %parameters
  store i32 %grid, ptr addrspace(1) %out
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %thread, ptr addrspace(1) %out
  %deep = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  store i32 %deep, ptr addrspace(1) %out
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
