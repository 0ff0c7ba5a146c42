; Scales of 16 blocks of 18 bytes, loaded one by one, come out of four vectors that begin and end where scales do. Pieces of
; 16 bytes, loads around a write, and few loads stay as they are.
; RUN: permute_loads
; RUN(WITHOUT): permute_loads_without

; CHECK-LABEL: define void @kernel(
; CHECK-NEXT: [[A:%.*]] = load <32 x i16>, ptr %p, align 1
; CHECK-NEXT: [[B_AT:%.*]] = getelementptr i8, ptr %p, i64 72
; CHECK-NEXT: [[B:%.*]] = load <32 x i16>, ptr [[B_AT]], align 1
; CHECK-NEXT: [[C_AT:%.*]] = getelementptr i8, ptr %p, i64 144
; CHECK-NEXT: [[C:%.*]] = load <32 x i16>, ptr [[C_AT]], align 1
; CHECK-NEXT: [[D_AT:%.*]] = getelementptr i8, ptr %p, i64 208
; CHECK-NEXT: [[D:%.*]] = load <32 x i16>, ptr [[D_AT]], align 1
; CHECK-NEXT: [[LOW:%.*]] = shufflevector <32 x i16> [[A]], <32 x i16> [[B]], <16 x i32> <i32 0, i32 0, i32 9, i32 9, i32 18, i32 18, i32 27, i32 27, i32 32, i32 32, i32 41, i32 41, i32 50, i32 50, i32 59, i32 59>
; CHECK-NEXT: [[HIGH:%.*]] = shufflevector <32 x i16> [[C]], <32 x i16> [[D]], <16 x i32> <i32 0, i32 0, i32 9, i32 9, i32 18, i32 18, i32 27, i32 27, i32 36, i32 36, i32 45, i32 45, i32 54, i32 54, i32 63, i32 63>
; CHECK-NEXT: [[ALL:%.*]] = shufflevector <16 x i16> [[LOW]], <16 x i16> [[HIGH]], <32 x i32>
; CHECK-NEXT: store <32 x i16> [[ALL]], ptr %q
; CHECK-COUNT-8: load <4 x i32>
; CHECK-COUNT-4: load <1 x i16>
; CHECK: store i32 0
; CHECK-COUNT-4: load <1 x i16>
; CHECK: store <16 x i16> %both
; CHECK-COUNT-2: load <1 x i16>
; CHECK: store <16 x i16> %few

; WITHOUT-NOT: load <32 x i16>

define void @kernel(ptr %p, ptr %q) {
  %scale0 = load <1 x i16>, ptr %p, align 1
  %scale.at1 = getelementptr i8, ptr %p, i64 18
  %scale1 = load <1 x i16>, ptr %scale.at1, align 1
  %scale.at2 = getelementptr i8, ptr %p, i64 36
  %scale2 = load <1 x i16>, ptr %scale.at2, align 1
  %scale.at3 = getelementptr i8, ptr %p, i64 54
  %scale3 = load <1 x i16>, ptr %scale.at3, align 1
  %scale.at4 = getelementptr i8, ptr %p, i64 72
  %scale4 = load <1 x i16>, ptr %scale.at4, align 1
  %scale.at5 = getelementptr i8, ptr %p, i64 90
  %scale5 = load <1 x i16>, ptr %scale.at5, align 1
  %scale.at6 = getelementptr i8, ptr %p, i64 108
  %scale6 = load <1 x i16>, ptr %scale.at6, align 1
  %scale.at7 = getelementptr i8, ptr %p, i64 126
  %scale7 = load <1 x i16>, ptr %scale.at7, align 1
  %scale.at8 = getelementptr i8, ptr %p, i64 144
  %scale8 = load <1 x i16>, ptr %scale.at8, align 1
  %scale.at9 = getelementptr i8, ptr %p, i64 162
  %scale9 = load <1 x i16>, ptr %scale.at9, align 1
  %scale.at10 = getelementptr i8, ptr %p, i64 180
  %scale10 = load <1 x i16>, ptr %scale.at10, align 1
  %scale.at11 = getelementptr i8, ptr %p, i64 198
  %scale11 = load <1 x i16>, ptr %scale.at11, align 1
  %scale.at12 = getelementptr i8, ptr %p, i64 216
  %scale12 = load <1 x i16>, ptr %scale.at12, align 1
  %scale.at13 = getelementptr i8, ptr %p, i64 234
  %scale13 = load <1 x i16>, ptr %scale.at13, align 1
  %scale.at14 = getelementptr i8, ptr %p, i64 252
  %scale14 = load <1 x i16>, ptr %scale.at14, align 1
  %scale.at15 = getelementptr i8, ptr %p, i64 270
  %scale15 = load <1 x i16>, ptr %scale.at15, align 1
  %scales0 = shufflevector <1 x i16> %scale0, <1 x i16> %scale1, <2 x i32> <i32 0, i32 1>
  %scales1 = shufflevector <1 x i16> %scale2, <1 x i16> %scale3, <2 x i32> <i32 0, i32 1>
  %scales2 = shufflevector <1 x i16> %scale4, <1 x i16> %scale5, <2 x i32> <i32 0, i32 1>
  %scales3 = shufflevector <1 x i16> %scale6, <1 x i16> %scale7, <2 x i32> <i32 0, i32 1>
  %scales4 = shufflevector <1 x i16> %scale8, <1 x i16> %scale9, <2 x i32> <i32 0, i32 1>
  %scales5 = shufflevector <1 x i16> %scale10, <1 x i16> %scale11, <2 x i32> <i32 0, i32 1>
  %scales6 = shufflevector <1 x i16> %scale12, <1 x i16> %scale13, <2 x i32> <i32 0, i32 1>
  %scales7 = shufflevector <1 x i16> %scale14, <1 x i16> %scale15, <2 x i32> <i32 0, i32 1>
  %scales8 = shufflevector <2 x i16> %scales0, <2 x i16> %scales1, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %scales9 = shufflevector <2 x i16> %scales2, <2 x i16> %scales3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %scales10 = shufflevector <2 x i16> %scales4, <2 x i16> %scales5, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %scales11 = shufflevector <2 x i16> %scales6, <2 x i16> %scales7, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %scales12 = shufflevector <4 x i16> %scales8, <4 x i16> %scales9, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %scales13 = shufflevector <4 x i16> %scales10, <4 x i16> %scales11, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %scales14 = shufflevector <8 x i16> %scales12, <8 x i16> %scales13, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %all = shufflevector <16 x i16> %scales14, <16 x i16> poison, <32 x i32> <i32 0, i32 0, i32 1, i32 1, i32 2, i32 2, i32 3, i32 3, i32 4, i32 4, i32 5, i32 5, i32 6, i32 6, i32 7, i32 7, i32 8, i32 8, i32 9, i32 9, i32 10, i32 10, i32 11, i32 11, i32 12, i32 12, i32 13, i32 13, i32 14, i32 14, i32 15, i32 15>
  store <32 x i16> %all, ptr %q
  %piece0 = load <4 x i32>, ptr %p, align 1
  %piece.at1 = getelementptr i8, ptr %p, i64 18
  %piece1 = load <4 x i32>, ptr %piece.at1, align 1
  %piece.at2 = getelementptr i8, ptr %p, i64 36
  %piece2 = load <4 x i32>, ptr %piece.at2, align 1
  %piece.at3 = getelementptr i8, ptr %p, i64 54
  %piece3 = load <4 x i32>, ptr %piece.at3, align 1
  %piece.at4 = getelementptr i8, ptr %p, i64 72
  %piece4 = load <4 x i32>, ptr %piece.at4, align 1
  %piece.at5 = getelementptr i8, ptr %p, i64 90
  %piece5 = load <4 x i32>, ptr %piece.at5, align 1
  %piece.at6 = getelementptr i8, ptr %p, i64 108
  %piece6 = load <4 x i32>, ptr %piece.at6, align 1
  %piece.at7 = getelementptr i8, ptr %p, i64 126
  %piece7 = load <4 x i32>, ptr %piece.at7, align 1
  %pieces0 = shufflevector <4 x i32> %piece0, <4 x i32> %piece1, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %pieces1 = shufflevector <4 x i32> %piece2, <4 x i32> %piece3, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %pieces2 = shufflevector <4 x i32> %piece4, <4 x i32> %piece5, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %pieces3 = shufflevector <4 x i32> %piece6, <4 x i32> %piece7, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %pieces4 = shufflevector <8 x i32> %pieces0, <8 x i32> %pieces1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %pieces5 = shufflevector <8 x i32> %pieces2, <8 x i32> %pieces3, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %pieces6 = shufflevector <16 x i32> %pieces4, <16 x i32> %pieces5, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  store <32 x i32> %pieces6, ptr %q
  %before0 = load <1 x i16>, ptr %p, align 1
  %before.at1 = getelementptr i8, ptr %p, i64 36
  %before1 = load <1 x i16>, ptr %before.at1, align 1
  %before.at2 = getelementptr i8, ptr %p, i64 72
  %before2 = load <1 x i16>, ptr %before.at2, align 1
  %before.at3 = getelementptr i8, ptr %p, i64 108
  %before3 = load <1 x i16>, ptr %before.at3, align 1
  store i32 0, ptr %q
  %behind.at4 = getelementptr i8, ptr %p, i64 144
  %behind4 = load <1 x i16>, ptr %behind.at4, align 1
  %behind.at5 = getelementptr i8, ptr %p, i64 180
  %behind5 = load <1 x i16>, ptr %behind.at5, align 1
  %behind.at6 = getelementptr i8, ptr %p, i64 216
  %behind6 = load <1 x i16>, ptr %behind.at6, align 1
  %behind.at7 = getelementptr i8, ptr %p, i64 252
  %behind7 = load <1 x i16>, ptr %behind.at7, align 1
  %around0 = shufflevector <1 x i16> %before0, <1 x i16> %before1, <2 x i32> <i32 0, i32 1>
  %around1 = shufflevector <1 x i16> %before2, <1 x i16> %before3, <2 x i32> <i32 0, i32 1>
  %around2 = shufflevector <1 x i16> %behind4, <1 x i16> %behind5, <2 x i32> <i32 0, i32 1>
  %around3 = shufflevector <1 x i16> %behind6, <1 x i16> %behind7, <2 x i32> <i32 0, i32 1>
  %around4 = shufflevector <2 x i16> %around0, <2 x i16> %around1, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %around5 = shufflevector <2 x i16> %around2, <2 x i16> %around3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %around6 = shufflevector <4 x i16> %around4, <4 x i16> %around5, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %both = shufflevector <8 x i16> %around6, <8 x i16> poison, <16 x i32> <i32 0, i32 0, i32 1, i32 1, i32 2, i32 2, i32 3, i32 3, i32 4, i32 4, i32 5, i32 5, i32 6, i32 6, i32 7, i32 7>
  store <16 x i16> %both, ptr %q
  %one0 = load <1 x i16>, ptr %p, align 1
  %one.at1 = getelementptr i8, ptr %p, i64 90
  %one1 = load <1 x i16>, ptr %one.at1, align 1
  %two0 = shufflevector <1 x i16> %one0, <1 x i16> %one1, <2 x i32> <i32 0, i32 1>
  %few = shufflevector <2 x i16> %two0, <2 x i16> poison, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  store <16 x i16> %few, ptr %q
  ret void
}
