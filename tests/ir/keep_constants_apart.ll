; Constants that differ between the lanes come from memory where an absolute difference may be; others stay.
; RUN: keep_constants_apart

; CHECK: [[APART:@apart.*]] = private unnamed_addr constant <4 x i64> <i64 0, i64 5, i64 -3, i64 7>
; CHECK-LABEL: define void @kernel(
; CHECK: [[C:%.*]] = load <4 x i64>, ptr [[APART]]
; CHECK: icmp ult <4 x i64> %a, [[C]]
; CHECK: sub <4 x i64> <i64 0, i64 5, i64 -3, i64 7>, %a
; CHECK: [[L:%.*]] = load <4 x i64>, ptr
; CHECK: call <4 x i64> @llvm.umin.v4i64(<4 x i64> %a, <4 x i64> [[L]])
; CHECK: call <4 x i64> @llvm.umin.v4i64(<4 x i64> %a, <4 x i64> splat (i64 9))
; CHECK: icmp ult <4 x i64> %a, <i64 0, i64 1, i64 2, i64 3>

define void @kernel(ptr %p) {
  %a = load <4 x i64>, ptr %p
  %less = icmp ult <4 x i64> %a, <i64 0, i64 5, i64 -3, i64 7>
  %one = sub <4 x i64> <i64 0, i64 5, i64 -3, i64 7>, %a
  %other = add <4 x i64> %a, <i64 0, i64 -5, i64 3, i64 -7>
  %difference = select <4 x i1> %less, <4 x i64> %one, <4 x i64> %other
  store <4 x i64> %difference, ptr %p
  %least = call <4 x i64> @llvm.umin.v4i64(<4 x i64> %a, <4 x i64> <i64 0, i64 5, i64 -3, i64 7>)
  store <4 x i64> %least, ptr %p
  %same = call <4 x i64> @llvm.umin.v4i64(<4 x i64> %a, <4 x i64> splat (i64 9))
  store <4 x i64> %same, ptr %p
  %lanes = icmp ult <4 x i64> %a, <i64 0, i64 1, i64 2, i64 3>
  %mask = zext <4 x i1> %lanes to <4 x i64>
  store <4 x i64> %mask, ptr %p
  ret void
}
