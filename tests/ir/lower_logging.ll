; A message becomes a call of the engine, which is told the place.
; RUN: lower_arguments lower_logging

; CHECK: [[PLACE:@.*]] = private {{.*}}c"here.metal:7\00"
; CHECK-NOT: call void @metalloid.log
; CHECK: call void @metalloid_log(ptr {{.*}}, i32 5, i32 3, ptr [[PLACE]], ptr addrspace(2) @subsystem, ptr addrspace(2) @category, ptr addrspace(2) @format, ptr null, i32 0)

@subsystem = internal addrspace(2) constant [4 x i8] c"sub\00"
@category = internal addrspace(2) constant [4 x i8] c"cat\00"
@format = internal addrspace(2) constant [3 x i8] c"hi\00"

declare void @metalloid.log(i32, i32, ptr addrspace(2), ptr addrspace(2), ptr addrspace(2), ptr, i32)

define void @kernel() !dbg !3 {
  call void @metalloid.log(i32 5, i32 3, ptr addrspace(2) @subsystem, ptr addrspace(2) @category, ptr addrspace(2) @format, ptr null, i32 0), !dbg !4
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "here.metal", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 5, unit: !0)
!4 = !DILocation(line: 7, scope: !3)
