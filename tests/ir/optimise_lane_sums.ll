; What is or-ed to a sum goes to the summand whose bits it may have: here to the number of the simdgroup, so that the
; lane's own bits are a summand again.
; RUN: optimise_lane

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK: [[SHARED:%.*]] = or i32 %{{.*}}, 256
; CHECK: [[INDEX:%.*]] = add i32 [[SHARED]], %
; CHECK: zext nneg i32 [[INDEX]] to i64

declare i32 @number()

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  %simdgroup = call range(i32 0, 4) i32 @number()
  %rows = shl nuw nsw i32 %simdgroup, 8
  %lane = and i32 %x, 255
  %sum = or disjoint i32 %rows, %lane
  %index = or i32 %sum, 256
  %wide = zext i32 %index to i64
  %place = getelementptr float, ptr addrspace(1) %out, i64 %wide
  store float 1.0, ptr addrspace(1) %place
  ret void
}
