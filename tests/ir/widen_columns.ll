; Columns of a matrix are stored piece by piece; of more than eight, each kind is a function from the ninth on.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-COUNT-256: store <1 x i16>
; CHECK: call void @"metalloid.store.<32 x i16>.in.1.aligned.2.parts.1.by.64.128.256.512.1024.lanes.32"(<32 x i16> {{.*}}, ptr addrspace(1) {{.*}}, i32 -1)
; CHECK-NEXT: ret void
; CHECK: define internal void @"metalloid.store.{{.*}}"(
; CHECK-COUNT-32: store <1 x i16>
; CHECK-NEXT: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
  %i = zext i32 %position to i64
  %value = trunc i32 %position to i16
  %column = getelementptr [32 x i16], ptr addrspace(1) %out, i64 %i
  %place0 = getelementptr i8, ptr addrspace(1) %column, i64 0
  store i16 %value, ptr addrspace(1) %place0
  %place1 = getelementptr i8, ptr addrspace(1) %column, i64 4096
  store i16 %value, ptr addrspace(1) %place1
  %place2 = getelementptr i8, ptr addrspace(1) %column, i64 8192
  store i16 %value, ptr addrspace(1) %place2
  %place3 = getelementptr i8, ptr addrspace(1) %column, i64 12288
  store i16 %value, ptr addrspace(1) %place3
  %place4 = getelementptr i8, ptr addrspace(1) %column, i64 16384
  store i16 %value, ptr addrspace(1) %place4
  %place5 = getelementptr i8, ptr addrspace(1) %column, i64 20480
  store i16 %value, ptr addrspace(1) %place5
  %place6 = getelementptr i8, ptr addrspace(1) %column, i64 24576
  store i16 %value, ptr addrspace(1) %place6
  %place7 = getelementptr i8, ptr addrspace(1) %column, i64 28672
  store i16 %value, ptr addrspace(1) %place7
  %place8 = getelementptr i8, ptr addrspace(1) %column, i64 32768
  store i16 %value, ptr addrspace(1) %place8
  ret void
}
