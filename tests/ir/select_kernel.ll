; Only what the kernel reaches comes along; all but the kernel is internal.
; RUN: select_kernel

; CHECK-NOT: @other
; CHECK-NOT: @unused
; CHECK: @table = internal addrspace(2) constant
; CHECK: define internal float @used(
; CHECK-NOT: @other
; CHECK: define void @kernel(

@table = addrspace(2) constant [2 x float] [float 1.0, float 2.0]
@unused = addrspace(2) constant float 3.0

define void @other(ptr addrspace(1) %out) {
  %x = load float, ptr addrspace(2) @unused
  store float %x, ptr addrspace(1) %out
  ret void
}

define linkonce_odr float @used(i64 %i) {
  %p = getelementptr float, ptr addrspace(2) @table, i64 %i
  %x = load float, ptr addrspace(2) %p
  ret float %x
}

define void @kernel(ptr addrspace(1) %out) {
  %x = call float @used(i64 1)
  store float %x, ptr addrspace(1) %out
  ret void
}
