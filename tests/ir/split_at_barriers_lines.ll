; Both functions keep their lines, also of what the first one has in front of its frame.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen split_at_barriers
; ARGUMENT: buffer
; ARGUMENT: threadgroup
; ARGUMENT: thread_position_in_grid

; CHECK: define {{.*}}void @row.simdgroup({{.*}} !dbg ![[ENTRY:[0-9]+]]
; CHECK: define internal {{.*}}.simdgroup.resume({{.*}} !dbg ![[RESUME:[0-9]+]]
; CHECK-DAG: ![[ENTRY]] = distinct !DISubprogram(name: "kernel"
; CHECK-DAG: ![[RESUME]] = distinct !DISubprogram(name: "kernel"
; CHECK-DAG: !DILocation(line: 3, {{.*}}scope: ![[ENTRY]])
; CHECK-DAG: !DILocation(line: 5, {{.*}}scope: ![[RESUME]])

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, ptr addrspace(3) %shared, i32 %position) convergent !dbg !4 {
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position, !dbg !6
  %other = getelementptr i32, ptr addrspace(3) %shared, i32 24, !dbg !6
  %own = load i32, ptr addrspace(1) %place, !dbg !6
  store i32 %own, ptr addrspace(3) %other, !dbg !6
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent, !dbg !7
  %theirs = load i32, ptr addrspace(3) %other, !dbg !8
  %more = add i32 %own, %theirs, !dbg !8
  store i32 %more, ptr addrspace(1) %place, !dbg !8
  ret void, !dbg !8
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, isOptimized: true, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernel.metal", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !9)
!4 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition | DISPFlagOptimized)
!6 = !DILocation(line: 3, column: 1, scope: !4)
!7 = !DILocation(line: 4, column: 1, scope: !4)
!8 = !DILocation(line: 5, column: 1, scope: !4)
!9 = !{}
