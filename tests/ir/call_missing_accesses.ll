; Accesses that the processor has no instruction for become calls of a function for their kind, where a function has
; many. A row that all lanes store is stored as such. What there is an instruction for stays, and what is there once.
; RUN: call_missing_accesses
; RUN(FEW): call_missing_accesses_of_few
; RUN(WITH): call_missing_accesses_with

; CHECK-LABEL: define void @kernel(
; CHECK: [[A:%.*]] = bitcast <8 x i1> %lanes to i8
; CHECK-NEXT: call x86_regcallcc void @metalloid.masked_store(ptr %p, <8 x i16> %x, i8 [[A]])
; CHECK: [[OTHERS:%.*]] = bitcast <16 x i1> %others to i16
; CHECK-NEXT: [[SHIFTED:%.*]] = lshr i16 [[OTHERS]], 8
; CHECK-NEXT: [[B:%.*]] = trunc i16 [[SHIFTED]] to i8
; CHECK-NEXT: call x86_regcallcc void @metalloid.masked_store(ptr %q, <8 x i16> %x, i8 [[B]])
; CHECK-NEXT: [[C:%.*]] = call x86_regcallcc <8 x i32> @metalloid.gather(<8 x ptr> %places)
; CHECK: call x86_regcallcc <8 x i32> @metalloid.gather(<8 x ptr> %{{.*}})
; CHECK: call void @llvm.masked.store.v8i32.p0(<8 x i32> [[C]], ptr align 4 %p, <8 x i1> %lanes)
; CHECK: [[LEFT:%.*]] = call x86_regcallcc <8 x i32> @metalloid.gather.1(<8 x ptr> %places, <8 x i32> %{{.*}}, i8 %{{.*}})
; CHECK: call x86_regcallcc <8 x i32> @metalloid.gather.1(<8 x ptr> %next, <8 x i32> [[LEFT]], i8 %{{.*}})
; CHECK: call void @llvm.masked.scatter.v8i32.v8p0(
; CHECK: ret void

; CHECK: define internal x86_regcallcc void @metalloid.masked_store(ptr [[P:%[0-9]+]], <8 x i16> [[X:%[0-9]+]], i8 [[BITS:%[0-9]+]])
; CHECK: [[ALL:%.*]] = icmp eq i8 [[BITS]], -1
; CHECK-NEXT: br i1 [[ALL]], label %all, label %some
; CHECK: all:
; CHECK-NEXT: store <8 x i16> [[X]], ptr [[P]], align 2
; CHECK-NEXT: ret void
; CHECK: some:
; CHECK-NEXT: [[LANES:%.*]] = bitcast i8 [[BITS]] to <8 x i1>
; CHECK-NEXT: call void @llvm.masked.store.v8i16.p0(<8 x i16> [[X]], ptr align 2 [[P]], <8 x i1> [[LANES]])
; CHECK-NEXT: ret void

; CHECK: define internal x86_regcallcc <8 x i32> @metalloid.gather(<8 x ptr> [[PLACES:%[0-9]+]])
; CHECK: [[GATHERED:%.*]] = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> align 4 [[PLACES]], <8 x i1> splat (i1 true), <8 x i32> poison)
; CHECK-NEXT: ret <8 x i32> [[GATHERED]]

; FEW-NOT: x86_regcallcc

; WITH-NOT: x86_regcallcc

target triple = "x86_64-pc-linux-gnu"

define void @kernel(ptr %p, ptr %q, <8 x ptr> %places, <8 x i16> %x, <8 x i1> %lanes, <16 x i1> %others) {
  %half = shufflevector <16 x i1> %others, <16 x i1> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  call void @llvm.masked.store.v8i16.p0(<8 x i16> %x, ptr align 2 %p, <8 x i1> %lanes)
  call void @llvm.masked.store.v8i16.p0(<8 x i16> %x, ptr align 2 %q, <8 x i1> %half)
  %a = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> align 4 %places, <8 x i1> splat (i1 true), <8 x i32> poison)
  %next = getelementptr i32, <8 x ptr> %places, i64 1
  %b = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> align 4 %next, <8 x i1> splat (i1 true), <8 x i32> poison)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %a, ptr align 4 %p, <8 x i1> %lanes)
  %c = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> align 4 %places, <8 x i1> %lanes, <8 x i32> %b)
  %d = call <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr> align 4 %next, <8 x i1> %lanes, <8 x i32> %c)
  call void @llvm.masked.scatter.v8i32.v8p0(<8 x i32> %d, <8 x ptr> align 4 %places, <8 x i1> %lanes)
  ret void
}

declare void @llvm.masked.store.v8i16.p0(<8 x i16>, ptr, <8 x i1>)
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, <8 x i1>)
declare <8 x i32> @llvm.masked.gather.v8i32.v8p0(<8 x ptr>, <8 x i1>, <8 x i32>)
declare void @llvm.masked.scatter.v8i32.v8p0(<8 x i32>, <8 x ptr>, <8 x i1>)
