; Bytes from anywhere in memory are read by one lane after the other; from the ninth load on by a function, which is told
; which lanes take part.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-COUNT-256: load i8
; CHECK-NOT: load i8
; CHECK-COUNT-2: call <32 x i8> @metalloid.gather.i8.in.1.aligned.1.lanes.32(<32 x ptr addrspace(1)> {{.*}}, i32 -1)
; CHECK: ret void
; CHECK: define internal <32 x i8> @metalloid.gather.i8.in.1.aligned.1.lanes.32(
; CHECK: all:
; CHECK-COUNT-32: load i8
; CHECK: ret <32 x i8>
; CHECK: some:
; CHECK-COUNT-32: select i1
; CHECK: ret <32 x i8>

define void @kernel(ptr addrspace(1) %in, i32 %position) {
  %i = zext i32 %position to i64
  %row = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %index0 = load i32, ptr addrspace(1) %row, align 1
  %place0 = getelementptr i8, ptr addrspace(1) %in, i32 %index0
  %byte0 = load i8, ptr addrspace(1) %place0
  %index1 = zext i8 %byte0 to i32
  %place1 = getelementptr i8, ptr addrspace(1) %in, i32 %index1
  %byte1 = load i8, ptr addrspace(1) %place1
  %index2 = zext i8 %byte1 to i32
  %place2 = getelementptr i8, ptr addrspace(1) %in, i32 %index2
  %byte2 = load i8, ptr addrspace(1) %place2
  %index3 = zext i8 %byte2 to i32
  %place3 = getelementptr i8, ptr addrspace(1) %in, i32 %index3
  %byte3 = load i8, ptr addrspace(1) %place3
  %index4 = zext i8 %byte3 to i32
  %place4 = getelementptr i8, ptr addrspace(1) %in, i32 %index4
  %byte4 = load i8, ptr addrspace(1) %place4
  %index5 = zext i8 %byte4 to i32
  %place5 = getelementptr i8, ptr addrspace(1) %in, i32 %index5
  %byte5 = load i8, ptr addrspace(1) %place5
  %index6 = zext i8 %byte5 to i32
  %place6 = getelementptr i8, ptr addrspace(1) %in, i32 %index6
  %byte6 = load i8, ptr addrspace(1) %place6
  %index7 = zext i8 %byte6 to i32
  %place7 = getelementptr i8, ptr addrspace(1) %in, i32 %index7
  %byte7 = load i8, ptr addrspace(1) %place7
  %index8 = zext i8 %byte7 to i32
  %place8 = getelementptr i8, ptr addrspace(1) %in, i32 %index8
  %byte8 = load i8, ptr addrspace(1) %place8
  %index9 = zext i8 %byte8 to i32
  %place9 = getelementptr i8, ptr addrspace(1) %in, i32 %index9
  %byte9 = load i8, ptr addrspace(1) %place9
  %index10 = zext i8 %byte9 to i32
  store i32 %index10, ptr addrspace(1) %row, align 1
  ret void
}
