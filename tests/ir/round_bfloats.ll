; Floats that whole numbers round to bfloat are rounded by the GPU's instruction.
; RUN: round_bfloats
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: [[ROUNDED:%.*]] = fptrunc float %x to bfloat
; CHECK-NEXT: [[BITS:%.*]] = bitcast bfloat [[ROUNDED]] to i16
; CHECK-NEXT: [[WIDE:%.*]] = zext i16 [[BITS]] to i32
; CHECK-NEXT: [[NARROW:%.*]] = trunc nuw i32 [[WIDE]] to i16
; CHECK-NEXT: store i16 [[NARROW]]
; CHECK-NOT: select
; CHECK: [[SECOND:%.*]] = fptrunc float {{%.*}} to bfloat
; CHECK: shl nuw i32 {{%.*}}, 16

define void @kernel(ptr addrspace(1) %out, float %x, i32 %y) {
  %bits = bitcast float %x to i32
  %positive = call float @llvm.fabs.f32(float %x)
  %magnitude = bitcast float %positive to i32
  %is.nan = icmp samesign ugt i32 %magnitude, 2139095040
  %more = add i32 %bits, 32767
  %upper = lshr i32 %bits, 16
  %odd = and i32 %upper, 1
  %rounded = add i32 %more, %odd
  %quiet = or i32 %bits, 4194304
  %chosen = select i1 %is.nan, i32 %quiet, i32 %rounded
  %result = lshr i32 %chosen, 16
  %narrow = trunc nuw i32 %result to i16
  store i16 %narrow, ptr addrspace(1) %out

  %y.magnitude = and i32 %y, 2147483647
  %y.is.nan = icmp ugt i32 %y.magnitude, 2139095040
  %y.upper = lshr i32 %y, 16
  %y.odd = and i32 %y.upper, 1
  %y.more = add i32 %y.odd, 32767
  %y.rounded = add i32 %y, %y.more
  %y.quiet = or i32 %y, 4194304
  %y.chosen = select i1 %y.is.nan, i32 %y.quiet, i32 %y.rounded
  %y.float = and i32 %y.chosen, -65536
  store i32 %y.float, ptr addrspace(1) %out
  ret void
}

declare float @llvm.fabs.f32(float)
