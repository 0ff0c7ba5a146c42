; A variable that may be read before it is written is named, and one whose address goes into a function first; one that is
; certainly written first is not.
; RUN: mark_variables

; CHECK-LABEL: define void @kernel(
; CHECK: call void @metalloid.check.variable(ptr %sum)
; CHECK-NOT: @metalloid.check.variable(ptr %first)
; CHECK: call void @metalloid.check.variable(ptr %out)

declare void @get(ptr)

define void @kernel(ptr addrspace(1) %x) !dbg !3 {
  %sum = alloca i32, align 4
  %first = alloca i32, align 4
  %out = alloca i32, align 4
  store i32 1, ptr %first, align 4
  call void @get(ptr %first)
  call void @get(ptr %out)
  %one = load i32, ptr %first, align 4
  %so.far = load i32, ptr %sum, align 4
  %more = add i32 %so.far, %one
  store i32 %more, ptr %sum, align 4
  %got = load i32, ptr %out, align 4
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "here.metal", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 5, unit: !0)
