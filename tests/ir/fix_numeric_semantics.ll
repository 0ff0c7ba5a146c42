; What C leaves undefined gets Metal's meaning; what is known to be harmless stays as it is.
; RUN: fix_numeric_semantics

; CHECK-LABEL: define void @kernel(
; CHECK: [[AMOUNT:%.*]] = and i32 %y, 31
; CHECK: shl i32 %x, [[AMOUNT]]
; CHECK: shl i32 %x, 7
; CHECK: [[ZERO:%.*]] = icmp eq i32 %y, 0
; CHECK: [[DIVISOR:%.*]] = select i1 [[ZERO]], i32 1, i32 %y
; CHECK: udiv i32 %x, [[DIVISOR]]
; CHECK: udiv i32 %x, 10
; CHECK-DAG: icmp eq i32 %y, 0
; CHECK-DAG: icmp eq i32 %y, -1
; CHECK-DAG: icmp eq i32 %x, -2147483648
; CHECK: [[SIGNED:%.*]] = select i1 {{.*}}, i32 1, i32 %y
; CHECK: srem i32 %x, [[SIGNED]]
; CHECK: call i32 @llvm.fptosi.sat.i32.f32(float %f)
; CHECK: call i16 @llvm.fptoui.sat.i16.f32(float %f)
; CHECK-NOT: fptosi float

define void @kernel(ptr addrspace(1) %out, i32 %x, i32 %y, float %f) {
  %a = shl i32 %x, %y
  store volatile i32 %a, ptr addrspace(1) %out
  %b = shl i32 %x, 7
  store volatile i32 %b, ptr addrspace(1) %out
  %c = udiv i32 %x, %y
  store volatile i32 %c, ptr addrspace(1) %out
  %d = udiv i32 %x, 10
  store volatile i32 %d, ptr addrspace(1) %out
  %e = srem i32 %x, %y
  store volatile i32 %e, ptr addrspace(1) %out
  %g = fptosi float %f to i32
  store volatile i32 %g, ptr addrspace(1) %out
  %h = fptoui float %f to i16
  store volatile i16 %h, ptr addrspace(1) %out
  ret void
}
