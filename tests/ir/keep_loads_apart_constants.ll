; Constants are no part of bitwise operations of which some lanes keep the result, and others an operand.
; RUN: keep_loads_apart

; CHECK-LABEL: define void @kernel(
; CHECK: [[C:%.*]] = load <16 x i32>, ptr @0
; CHECK: [[OWN:%.*]] = freeze <16 x i32> [[C]]
; CHECK: %a = and <16 x i32> %x, [[OWN]]
; CHECK: [[D:%.*]] = load <16 x i32>, ptr @1
; CHECK: [[OTHER:%.*]] = freeze <16 x i32> [[D]]
; CHECK: %b = and <16 x i32> %y, [[OTHER]]
; CHECK: select <16 x i1> %lanes
; Nobody keeps an operand.
; CHECK: and <16 x i32> %x, splat (i32 255)
; Two registers share the constant.
; CHECK: and <32 x i32> %v, splat (i32 255)

define void @kernel(<16 x i32> %x, <16 x i32> %y, <16 x i1> %lanes, <32 x i32> %v, <32 x i1> %all, ptr %p) {
  %a = and <16 x i32> %x, splat (i32 -512)
  %b = and <16 x i32> %y, splat (i32 511)
  %both = or <16 x i32> %a, %b
  %kept = select <16 x i1> %lanes, <16 x i32> %both, <16 x i32> %x
  store <16 x i32> %kept, ptr %p
  %c = and <16 x i32> %x, splat (i32 255)
  %chosen = select <16 x i1> %lanes, <16 x i32> %c, <16 x i32> %y
  store <16 x i32> %chosen, ptr %p
  %d = and <32 x i32> %v, splat (i32 255)
  %wide = select <32 x i1> %all, <32 x i32> %d, <32 x i32> %v
  store <32 x i32> %wide, ptr %p
  ret void
}
