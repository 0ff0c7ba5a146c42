; Additions of one number at 16 places after each other become a vector's, with how many lanes before have the same place:
; places by small indices, and 8 by addresses. Not those of which a lane is missing, another number is added, the result is
; used, or between which something else is written; nor where conflicts cost more.
; RUN: count_together
; RUN(WITHOUT): count_together_elsewhere

; CHECK-LABEL: define void @kernel(
; CHECK: [[BYTES:%.*]] = shufflevector <32 x i8> %bins, <32 x i8> poison, <16 x i32> <i32 0, {{.*}} i32 15>
; CHECK: [[INDICES:%.*]] = zext <16 x i8> [[BYTES]] to <16 x i32>
; CHECK: [[PLACES:%.*]] = getelementptr i32, ptr %counts, <16 x i32> [[INDICES]]
; CHECK: [[SAME:%.*]] = call <16 x i32> @llvm.x86.avx512.conflict.d.512(<16 x i32> [[INDICES]])
; CHECK: [[BEFORE:%.*]] = call <16 x i32> @llvm.ctpop.v16i32(<16 x i32> [[SAME]])
; CHECK: [[TIMES:%.*]] = add <16 x i32> [[BEFORE]], splat (i32 1)
; CHECK: [[ADDED:%.*]] = mul <16 x i32> [[TIMES]], splat (i32 3)
; CHECK: [[OLD:%.*]] = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(
; CHECK: [[NEW:%.*]] = add <16 x i32> [[OLD]], [[ADDED]]
; CHECK: call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> [[NEW]], <16 x ptr> align 4 [[PLACES]]
; CHECK: call <8 x i64> @llvm.x86.avx512.conflict.q.512(
; CHECK: call void @llvm.masked.scatter.v8i32.v8p0(
; CHECK-NOT: llvm.masked
; CHECK: ret void

; WITHOUT-NOT: llvm.masked

define void @kernel(ptr %counts, ptr %in, <32 x ptr> %anywhere, i32 %n, ptr %out) {
  %bins = load <32 x i8>, ptr %in
  %wide = zext <32 x i8> %bins to <32 x i64>
  %all = getelementptr i32, ptr %counts, <32 x i64> %wide
  %few.place0 = extractelement <32 x ptr> %all, i64 0
  %few.old0 = load i32, ptr %few.place0, align 4
  %few.new0 = add i32 %few.old0, 3
  store i32 %few.new0, ptr %few.place0, align 4
  %few.place1 = extractelement <32 x ptr> %all, i64 1
  %few.old1 = load i32, ptr %few.place1, align 4
  %few.new1 = add i32 %few.old1, 3
  store i32 %few.new1, ptr %few.place1, align 4
  %few.place2 = extractelement <32 x ptr> %all, i64 2
  %few.old2 = load i32, ptr %few.place2, align 4
  %few.new2 = add i32 %few.old2, 3
  store i32 %few.new2, ptr %few.place2, align 4
  %few.place3 = extractelement <32 x ptr> %all, i64 3
  %few.old3 = load i32, ptr %few.place3, align 4
  %few.new3 = add i32 %few.old3, 3
  store i32 %few.new3, ptr %few.place3, align 4
  %few.place4 = extractelement <32 x ptr> %all, i64 4
  %few.old4 = load i32, ptr %few.place4, align 4
  %few.new4 = add i32 %few.old4, 3
  store i32 %few.new4, ptr %few.place4, align 4
  %few.place5 = extractelement <32 x ptr> %all, i64 5
  %few.old5 = load i32, ptr %few.place5, align 4
  %few.new5 = add i32 %few.old5, 3
  store i32 %few.new5, ptr %few.place5, align 4
  %few.place6 = extractelement <32 x ptr> %all, i64 6
  %few.old6 = load i32, ptr %few.place6, align 4
  %few.new6 = add i32 %few.old6, 3
  store i32 %few.new6, ptr %few.place6, align 4
  %few.place7 = extractelement <32 x ptr> %all, i64 7
  %few.old7 = load i32, ptr %few.place7, align 4
  %few.new7 = add i32 %few.old7, 3
  store i32 %few.new7, ptr %few.place7, align 4
  %few.place8 = extractelement <32 x ptr> %all, i64 8
  %few.old8 = load i32, ptr %few.place8, align 4
  %few.new8 = add i32 %few.old8, 3
  store i32 %few.new8, ptr %few.place8, align 4
  %few.place9 = extractelement <32 x ptr> %all, i64 9
  %few.old9 = load i32, ptr %few.place9, align 4
  %few.new9 = add i32 %few.old9, 3
  store i32 %few.new9, ptr %few.place9, align 4
  %few.place10 = extractelement <32 x ptr> %all, i64 10
  %few.old10 = load i32, ptr %few.place10, align 4
  %few.new10 = add i32 %few.old10, 3
  store i32 %few.new10, ptr %few.place10, align 4
  %few.place11 = extractelement <32 x ptr> %all, i64 11
  %few.old11 = load i32, ptr %few.place11, align 4
  %few.new11 = add i32 %few.old11, 3
  store i32 %few.new11, ptr %few.place11, align 4
  %few.place12 = extractelement <32 x ptr> %all, i64 12
  %few.old12 = load i32, ptr %few.place12, align 4
  %few.new12 = add i32 %few.old12, 3
  store i32 %few.new12, ptr %few.place12, align 4
  %few.place13 = extractelement <32 x ptr> %all, i64 13
  %few.old13 = load i32, ptr %few.place13, align 4
  %few.new13 = add i32 %few.old13, 3
  store i32 %few.new13, ptr %few.place13, align 4
  %few.place14 = extractelement <32 x ptr> %all, i64 14
  %few.old14 = load i32, ptr %few.place14, align 4
  %few.new14 = add i32 %few.old14, 3
  store i32 %few.new14, ptr %few.place14, align 4
  %few.place15 = extractelement <32 x ptr> %all, i64 15
  %few.old15 = load i32, ptr %few.place15, align 4
  %few.new15 = add i32 %few.old15, 3
  store i32 %few.new15, ptr %few.place15, align 4
  %any.place0 = extractelement <32 x ptr> %anywhere, i64 0
  %any.old0 = load i32, ptr %any.place0, align 4
  %any.new0 = add i32 %any.old0, %n
  store i32 %any.new0, ptr %any.place0, align 4
  %any.place1 = extractelement <32 x ptr> %anywhere, i64 1
  %any.old1 = load i32, ptr %any.place1, align 4
  %any.new1 = add i32 %any.old1, %n
  store i32 %any.new1, ptr %any.place1, align 4
  %any.place2 = extractelement <32 x ptr> %anywhere, i64 2
  %any.old2 = load i32, ptr %any.place2, align 4
  %any.new2 = add i32 %any.old2, %n
  store i32 %any.new2, ptr %any.place2, align 4
  %any.place3 = extractelement <32 x ptr> %anywhere, i64 3
  %any.old3 = load i32, ptr %any.place3, align 4
  %any.new3 = add i32 %any.old3, %n
  store i32 %any.new3, ptr %any.place3, align 4
  %any.place4 = extractelement <32 x ptr> %anywhere, i64 4
  %any.old4 = load i32, ptr %any.place4, align 4
  %any.new4 = add i32 %any.old4, %n
  store i32 %any.new4, ptr %any.place4, align 4
  %any.place5 = extractelement <32 x ptr> %anywhere, i64 5
  %any.old5 = load i32, ptr %any.place5, align 4
  %any.new5 = add i32 %any.old5, %n
  store i32 %any.new5, ptr %any.place5, align 4
  %any.place6 = extractelement <32 x ptr> %anywhere, i64 6
  %any.old6 = load i32, ptr %any.place6, align 4
  %any.new6 = add i32 %any.old6, %n
  store i32 %any.new6, ptr %any.place6, align 4
  %any.place7 = extractelement <32 x ptr> %anywhere, i64 7
  %any.old7 = load i32, ptr %any.place7, align 4
  %any.new7 = add i32 %any.old7, %n
  store i32 %any.new7, ptr %any.place7, align 4
  %gap.place0 = extractelement <32 x ptr> %anywhere, i64 0
  %gap.old0 = load i32, ptr %gap.place0, align 4
  %gap.new0 = add i32 %gap.old0, %n
  store i32 %gap.new0, ptr %gap.place0, align 4
  %gap.place1 = extractelement <32 x ptr> %anywhere, i64 1
  %gap.old1 = load i32, ptr %gap.place1, align 4
  %gap.new1 = add i32 %gap.old1, %n
  store i32 %gap.new1, ptr %gap.place1, align 4
  %gap.place2 = extractelement <32 x ptr> %anywhere, i64 2
  %gap.old2 = load i32, ptr %gap.place2, align 4
  %gap.new2 = add i32 %gap.old2, %n
  store i32 %gap.new2, ptr %gap.place2, align 4
  %gap.place3 = extractelement <32 x ptr> %anywhere, i64 3
  %gap.old3 = load i32, ptr %gap.place3, align 4
  %gap.new3 = add i32 %gap.old3, %n
  store i32 %gap.new3, ptr %gap.place3, align 4
  %gap.place5 = extractelement <32 x ptr> %anywhere, i64 5
  %gap.old5 = load i32, ptr %gap.place5, align 4
  %gap.new5 = add i32 %gap.old5, %n
  store i32 %gap.new5, ptr %gap.place5, align 4
  %gap.place6 = extractelement <32 x ptr> %anywhere, i64 6
  %gap.old6 = load i32, ptr %gap.place6, align 4
  %gap.new6 = add i32 %gap.old6, %n
  store i32 %gap.new6, ptr %gap.place6, align 4
  %gap.place7 = extractelement <32 x ptr> %anywhere, i64 7
  %gap.old7 = load i32, ptr %gap.place7, align 4
  %gap.new7 = add i32 %gap.old7, %n
  store i32 %gap.new7, ptr %gap.place7, align 4
  %gap.place8 = extractelement <32 x ptr> %anywhere, i64 8
  %gap.old8 = load i32, ptr %gap.place8, align 4
  %gap.new8 = add i32 %gap.old8, %n
  store i32 %gap.new8, ptr %gap.place8, align 4
  %other.place0 = extractelement <32 x ptr> %anywhere, i64 0
  %other.old0 = load i32, ptr %other.place0, align 4
  %other.new0 = add i32 %other.old0, %n
  store i32 %other.new0, ptr %other.place0, align 4
  %other.place1 = extractelement <32 x ptr> %anywhere, i64 1
  %other.old1 = load i32, ptr %other.place1, align 4
  %other.new1 = add i32 %other.old1, %n
  store i32 %other.new1, ptr %other.place1, align 4
  %other.place2 = extractelement <32 x ptr> %anywhere, i64 2
  %other.old2 = load i32, ptr %other.place2, align 4
  %other.new2 = add i32 %other.old2, %n
  store i32 %other.new2, ptr %other.place2, align 4
  %other.place3 = extractelement <32 x ptr> %anywhere, i64 3
  %other.old3 = load i32, ptr %other.place3, align 4
  %other.new3 = add i32 %other.old3, %n
  store i32 %other.new3, ptr %other.place3, align 4
  %other.place4 = extractelement <32 x ptr> %anywhere, i64 4
  %other.old4 = load i32, ptr %other.place4, align 4
  %other.new4 = add i32 %other.old4, %n
  store i32 %other.new4, ptr %other.place4, align 4
  %other.place5 = extractelement <32 x ptr> %anywhere, i64 5
  %other.old5 = load i32, ptr %other.place5, align 4
  %other.new5 = add i32 %other.old5, 1
  store i32 %other.new5, ptr %other.place5, align 4
  %other.place6 = extractelement <32 x ptr> %anywhere, i64 6
  %other.old6 = load i32, ptr %other.place6, align 4
  %other.new6 = add i32 %other.old6, 1
  store i32 %other.new6, ptr %other.place6, align 4
  %other.place7 = extractelement <32 x ptr> %anywhere, i64 7
  %other.old7 = load i32, ptr %other.place7, align 4
  %other.new7 = add i32 %other.old7, 1
  store i32 %other.new7, ptr %other.place7, align 4
  %used.place0 = extractelement <32 x ptr> %anywhere, i64 0
  %used.old0 = load i32, ptr %used.place0, align 4
  %used.new0 = add i32 %used.old0, %n
  store i32 %used.new0, ptr %used.place0, align 4
  store i32 %used.old0, ptr %out, align 4
  %used.place1 = extractelement <32 x ptr> %anywhere, i64 1
  %used.old1 = load i32, ptr %used.place1, align 4
  %used.new1 = add i32 %used.old1, %n
  store i32 %used.new1, ptr %used.place1, align 4
  store i32 %used.old1, ptr %out, align 4
  %used.place2 = extractelement <32 x ptr> %anywhere, i64 2
  %used.old2 = load i32, ptr %used.place2, align 4
  %used.new2 = add i32 %used.old2, %n
  store i32 %used.new2, ptr %used.place2, align 4
  store i32 %used.old2, ptr %out, align 4
  %used.place3 = extractelement <32 x ptr> %anywhere, i64 3
  %used.old3 = load i32, ptr %used.place3, align 4
  %used.new3 = add i32 %used.old3, %n
  store i32 %used.new3, ptr %used.place3, align 4
  store i32 %used.old3, ptr %out, align 4
  %used.place4 = extractelement <32 x ptr> %anywhere, i64 4
  %used.old4 = load i32, ptr %used.place4, align 4
  %used.new4 = add i32 %used.old4, %n
  store i32 %used.new4, ptr %used.place4, align 4
  store i32 %used.old4, ptr %out, align 4
  %used.place5 = extractelement <32 x ptr> %anywhere, i64 5
  %used.old5 = load i32, ptr %used.place5, align 4
  %used.new5 = add i32 %used.old5, %n
  store i32 %used.new5, ptr %used.place5, align 4
  store i32 %used.old5, ptr %out, align 4
  %used.place6 = extractelement <32 x ptr> %anywhere, i64 6
  %used.old6 = load i32, ptr %used.place6, align 4
  %used.new6 = add i32 %used.old6, %n
  store i32 %used.new6, ptr %used.place6, align 4
  store i32 %used.old6, ptr %out, align 4
  %used.place7 = extractelement <32 x ptr> %anywhere, i64 7
  %used.old7 = load i32, ptr %used.place7, align 4
  %used.new7 = add i32 %used.old7, %n
  store i32 %used.new7, ptr %used.place7, align 4
  store i32 %used.old7, ptr %out, align 4
  %between.place0 = extractelement <32 x ptr> %anywhere, i64 0
  %between.old0 = load i32, ptr %between.place0, align 4
  %between.new0 = add i32 %between.old0, %n
  store i32 %between.new0, ptr %between.place0, align 4
  %between.place1 = extractelement <32 x ptr> %anywhere, i64 1
  %between.old1 = load i32, ptr %between.place1, align 4
  %between.new1 = add i32 %between.old1, %n
  store i32 %between.new1, ptr %between.place1, align 4
  %between.place2 = extractelement <32 x ptr> %anywhere, i64 2
  %between.old2 = load i32, ptr %between.place2, align 4
  %between.new2 = add i32 %between.old2, %n
  store i32 %between.new2, ptr %between.place2, align 4
  %between.place3 = extractelement <32 x ptr> %anywhere, i64 3
  %between.old3 = load i32, ptr %between.place3, align 4
  %between.new3 = add i32 %between.old3, %n
  store i32 %between.new3, ptr %between.place3, align 4
  store i32 0, ptr %out, align 4
  %between.place4 = extractelement <32 x ptr> %anywhere, i64 4
  %between.old4 = load i32, ptr %between.place4, align 4
  %between.new4 = add i32 %between.old4, %n
  store i32 %between.new4, ptr %between.place4, align 4
  %between.place5 = extractelement <32 x ptr> %anywhere, i64 5
  %between.old5 = load i32, ptr %between.place5, align 4
  %between.new5 = add i32 %between.old5, %n
  store i32 %between.new5, ptr %between.place5, align 4
  %between.place6 = extractelement <32 x ptr> %anywhere, i64 6
  %between.old6 = load i32, ptr %between.place6, align 4
  %between.new6 = add i32 %between.old6, %n
  store i32 %between.new6, ptr %between.place6, align 4
  %between.place7 = extractelement <32 x ptr> %anywhere, i64 7
  %between.old7 = load i32, ptr %between.place7, align 4
  %between.new7 = add i32 %between.old7, %n
  store i32 %between.new7, ptr %between.place7, align 4
  ret void
}
