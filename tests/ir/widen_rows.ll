; Bytes that lie 16 apart, of which more than eight are read: a function reads them, for some lanes or for all.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-NOT: masked.load
; CHECK-COUNT-9: call { <32 x i8> } @metalloid.load.1.i8.in.1.aligned.1.apart.16.lanes.32(ptr addrspace(1) %{{[^,]*}}, i32 -1)
; CHECK-NOT: .all:
; CHECK: call { <32 x i8> } @metalloid.load.1.i8.in.1.aligned.1.apart.16.lanes.32(ptr addrspace(1) %{{[^,]*}}, i32 %{{.*}})
; CHECK: define internal { <32 x i8> } @metalloid.load.1.i8.in.1.aligned.1.apart.16.lanes.32(
; CHECK: all:
; CHECK-NEXT: call <512 x i8> @llvm.masked.load.v512i8
; CHECK: some:
; CHECK-COUNT-32: load i8
; CHECK-NEXT: insertelement
; CHECK-NEXT: insertvalue
; CHECK-NEXT: ret

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
entry:
  %i = zext i32 %position to i64
  %row = getelementptr [16 x i8], ptr addrspace(1) %in, i64 %i
  %byte0 = load i8, ptr addrspace(1) %row
  %place1 = getelementptr i8, ptr addrspace(1) %row, i64 1
  %byte1 = load i8, ptr addrspace(1) %place1
  %sum1 = add i8 %byte0, %byte1
  %place2 = getelementptr i8, ptr addrspace(1) %row, i64 2
  %byte2 = load i8, ptr addrspace(1) %place2
  %sum2 = add i8 %sum1, %byte2
  %place3 = getelementptr i8, ptr addrspace(1) %row, i64 3
  %byte3 = load i8, ptr addrspace(1) %place3
  %sum3 = add i8 %sum2, %byte3
  %place4 = getelementptr i8, ptr addrspace(1) %row, i64 4
  %byte4 = load i8, ptr addrspace(1) %place4
  %sum4 = add i8 %sum3, %byte4
  %place5 = getelementptr i8, ptr addrspace(1) %row, i64 5
  %byte5 = load i8, ptr addrspace(1) %place5
  %sum5 = add i8 %sum4, %byte5
  %place6 = getelementptr i8, ptr addrspace(1) %row, i64 6
  %byte6 = load i8, ptr addrspace(1) %place6
  %sum6 = add i8 %sum5, %byte6
  %place7 = getelementptr i8, ptr addrspace(1) %row, i64 7
  %byte7 = load i8, ptr addrspace(1) %place7
  %sum7 = add i8 %sum6, %byte7
  %place8 = getelementptr i8, ptr addrspace(1) %row, i64 8
  %byte8 = load i8, ptr addrspace(1) %place8
  %sum8 = add i8 %sum7, %byte8
  %few = icmp ult i8 %sum8, 100
  br i1 %few, label %more, label %last

more:
  %place9 = getelementptr i8, ptr addrspace(1) %row, i64 9
  %byte9 = load i8, ptr addrspace(1) %place9
  br label %last

last:
  %sum = phi i8 [ %sum8, %entry ], [ %byte9, %more ]
  %place = getelementptr i8, ptr addrspace(1) %out, i64 %i
  store i8 %sum, ptr addrspace(1) %place
  ret void
}
