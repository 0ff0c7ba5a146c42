; Loads are no part of bitwise operations.
; RUN: keep_loads_apart

; CHECK-LABEL: define void @kernel(
; CHECK: [[Y:%.*]] = load <32 x i32>, ptr %p
; CHECK: [[APART:%.*]] = freeze <32 x i32> [[Y]]
; CHECK: and <32 x i32> [[APART]], splat (i32 511)
; CHECK: [[Z:%.*]] = load <32 x i32>, ptr %q
; CHECK-NOT: freeze
; CHECK: add <32 x i32> [[Z]],

define void @kernel(ptr %p, ptr %q) {
  %y = load <32 x i32>, ptr %p
  %bits = and <32 x i32> %y, splat (i32 511)
  %z = load <32 x i32>, ptr %q
  %sum = add <32 x i32> %z, %bits
  store <32 x i32> %sum, ptr %p
  ret void
}
