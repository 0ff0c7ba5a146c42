; Rows of 16 bits eight elements apart from lane to lane, of some lanes: 256 branches each, if they stayed.
; RUN: call_missing_accesses

; CHECK-LABEL: define void @kernel(
; CHECK: [[BITS:%.*]] = bitcast <256 x i1> %lanes to i256
; CHECK-NEXT: call x86_regcallcc <256 x i16> @metalloid.masked_load(ptr %p, i256 [[BITS]])
; CHECK: call x86_regcallcc <256 x i16> @metalloid.masked_load(ptr %q, i256 %{{.*}})
; CHECK: ret void
; CHECK: define internal x86_regcallcc <256 x i16> @metalloid.masked_load(ptr {{%[0-9]+}}, i256 [[LANES:%[0-9]+]])
; CHECK: icmp eq i256 [[LANES]], -1

target triple = "x86_64-pc-linux-gnu"

define void @kernel(ptr %p, ptr %q, <256 x i1> %lanes) {
  %a = call <256 x i16> @llvm.masked.load.v256i16.p0(ptr align 2 %p, <256 x i1> %lanes, <256 x i16> poison)
  %b = call <256 x i16> @llvm.masked.load.v256i16.p0(ptr align 2 %q, <256 x i1> %lanes, <256 x i16> poison)
  %sum = add <256 x i16> %a, %b
  store <256 x i16> %sum, ptr %p
  ret void
}

declare <256 x i16> @llvm.masked.load.v256i16.p0(ptr, <256 x i1>, <256 x i16>)
