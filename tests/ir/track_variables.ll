; A variable that may be read before it is written gets a shadow; one that is certainly written first gets none.
; RUN: track_variables

; CHECK-LABEL: define void @kernel(
; CHECK: %sum.written = alloca [4 x i8]
; CHECK-NOT: %first.written
; CHECK: [[PLACE:%.*]] = getelementptr i8, ptr %sum.written, i64 0
; CHECK-NEXT: [[WRITTEN:%.*]] = load i32, ptr [[PLACE]]
; CHECK-NEXT: [[HOLDS:%.*]] = icmp ne i32 [[WRITTEN]], 0
; CHECK-NEXT: call void @metalloid.check.expect(i1 [[HOLDS]], i32 7, ptr {{@.*}})
; CHECK-NEXT: load i32, ptr %sum
; CHECK: call void @llvm.memset{{.*}}(ptr align 1 {{.*}}, i8 1, i64 4, i1 false)
; CHECK-NEXT: store i32 %more, ptr %sum

define void @kernel(ptr addrspace(1) %x) !dbg !3 {
  %sum = alloca i32, align 4
  %first = alloca i32, align 4
  store i32 1, ptr %first, align 4
  %one = load i32, ptr %first, align 4
  %so.far = load i32, ptr %sum, align 4
  %more = add i32 %so.far, %one
  store i32 %more, ptr %sum, align 4
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "here.metal", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 5, unit: !0)
