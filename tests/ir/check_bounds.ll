; Accesses are preceded by checks of how far behind the memory's beginning they go. Those a constant apart have one, which
; stands in front of the first; what can be proven has none.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane
; RUN(BRANCH): lower_arguments check_bounds lower_bounds_checks
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

@table = internal addrspace(2) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]

; CHECK-DAG: [[X:@.*]] = {{.*}}c"argument 0\00"
; CHECK-DAG: [[OUT:@.*]] = {{.*}}c"argument 1\00"
; CHECK-DAG: [[READS:@.*]] = {{.*}}c"r4 \00"
; CHECK-DAG: [[WRITES:@.*]] = {{.*}}c"w4 \00"
; CHECK-LABEL: define void @metalloid_lane(
; CHECK-DAG: [[BYTES:%.*]] = load ptr, ptr {{.*}}
; CHECK: [[OFFSET:%.*]] = mul i64 {{.*}}, 4
; CHECK: call void @metalloid_check_bounds(i64 [[OFFSET]], i64 12, i64 {{.*}}, ptr {{.*}}, ptr [[X]], ptr [[READS]], ptr [[READS]])
; CHECK: call void @metalloid_check_bounds(i64 %{{.*}}, i64 4, i64 {{.*}}, ptr {{.*}}, ptr [[OUT]], ptr [[WRITES]], ptr [[WRITES]])
; CHECK-NOT: call void @metalloid_check_bounds
; CHECK: load i32, ptr addrspace(1)
; CHECK: load i32, ptr addrspace(1)
; CHECK-NOT: call void @metalloid_check_bounds
; CHECK: ret void

; BRANCH: [[LIMIT:%.*]] = call i64 @llvm.usub.sat.i64(i64 {{.*}}, i64 11)
; BRANCH: icmp ult i64 {{.*}}, [[LIMIT]]
; BRANCH: call void @metalloid_report_bounds(ptr {{.*}}, i32 {{.*}}, i64 {{.*}}, i64 12,
; BRANCH-NEXT: unreachable

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %position) {
entry:
  %i = zext i32 %position to i64
  %first.place = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %first = load i32, ptr addrspace(1) %first.place
  %third.place = getelementptr i8, ptr addrspace(1) %first.place, i64 8
  %third = load i32, ptr addrspace(1) %third.place
  %second.place = getelementptr i8, ptr addrspace(1) %first.place, i64 4
  %second = load i32, ptr addrspace(1) %second.place
  %which = and i32 %first, 3
  %table.place = getelementptr i32, ptr addrspace(2) @table, i32 %which
  %entry.value = load i32, ptr addrspace(2) %table.place
  %some = add i32 %third, %second
  %all = add i32 %some, %entry.value
  %out.place = getelementptr i32, ptr addrspace(1) %out, i64 %i
  store i32 %all, ptr addrspace(1) %out.place
  ret void
}
