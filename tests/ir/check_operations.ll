; Operations of the contract, arithmetic of LLVM and the kernel's own functions may be called.
; RUN: check_operations

; CHECK-LABEL: define void @kernel(

declare i32 @metalloid.simd.sum.u32(i32)
declare float @llvm.fabs.f32(float)

define internal float @own(float %x) {
  %y = call float @llvm.fabs.f32(float %x)
  ret float %y
}

define void @kernel(ptr addrspace(1) %out) {
  %x = call float @own(float -1.0)
  store float %x, ptr addrspace(1) %out
  %s = call i32 @metalloid.simd.sum.u32(i32 1)
  ret void
}
