; Each check learns what memory its address comes from, how much that is, and its place in the source; an array of the
; thread's own is checked in place.
; RUN: resolve_checks
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid
; RUN(LOWERED): resolve_checks lower_arguments lower_checks

; CHECK: [[FILE:@.*]] = private {{.*}}c"here.metal\00"
; CHECK: [[SITE:@.*]] = internal constant { ptr, ptr, ptr, i32, i32, i32, i32 } { ptr [[FILE]], ptr null, ptr null, i32 7, i32 3, i32 1, i32 0 }
; CHECK-LABEL: define void @kernel(
; CHECK: call ptr addrspace(1) @metalloid.checked.access.p1(ptr addrspace(1) %at, ptr {{.*}}, i64 -1, i32 0, i64 4, i64 0, i32 1, i32 {{.*}}, ptr [[SITE]])
; CHECK: call i64 @llvm.usub.sat.i64(i64 16, i64 4)
; CHECK: icmp ule i64
; CHECK: call void @metalloid.checked.expect(i1 {{.*}}, i32 0, ptr {{.*}}, i32 {{.*}}, ptr {{.*}})
; CHECK: select i1 {{.*}}, ptr %mine, ptr %own
; CHECK: call void @metalloid.checked.expect(i1 %holds, i32 12, ptr null, i32 {{.*}}, ptr [[SITE]])
; CHECK-NOT: @metalloid.check.division
; CHECK: store i32 %quotient, ptr addrspace(1) %x
; LOWERED: call ptr addrspace(1) @metalloid_check_access_p1(ptr %0, ptr addrspace(1)
; LOWERED: br i1 {{.*}}!prof
; LOWERED: call void @metalloid_check_fail(ptr %0, i32 0, ptr

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)
declare i32 @metalloid.check.division.i32(i32, i1)
declare ptr @metalloid.check.access.p0(ptr, i64, i64, i32)

define void @kernel(ptr addrspace(1) %x, i64 %i) !dbg !3 {
  %own = alloca [4 x i32], align 4
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %checked = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %at, i64 4, i64 0, i32 1), !dbg !4
  %value = load i32, ptr addrspace(1) %checked, align 4, !dbg !4
  %mine = getelementptr i32, ptr %own, i64 %i
  %place = call ptr @metalloid.check.access.p0(ptr %mine, i64 4, i64 0, i32 2), !dbg !4
  store i32 %value, ptr %place, align 4, !dbg !4
  %holds = icmp ne i32 %value, 0
  %quotient = udiv i32 7, %value
  %result = call i32 @metalloid.check.division.i32(i32 %quotient, i1 %holds), !dbg !4
  store i32 %result, ptr addrspace(1) %x, align 4
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "here.metal", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 5, unit: !0)
!4 = !DILocation(line: 7, column: 3, scope: !3)
