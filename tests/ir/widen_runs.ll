; Stores of 16 bits by runs of lanes, of which a program has more than sixteen, are calls, for some lanes as for all. They
; are handed the one place from which all others follow, or the place of each run.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-NOT: masked.store
; CHECK-COUNT-16: call void @"metalloid.store.<32 x i16>.in.1.aligned.2.parts.1.by.2.4.8.2048.4096.lanes.32"(<32 x i16> {{.*}}, ptr addrspace(1) {{[^,]*}}, i32 -1)
; CHECK-NOT: .all:
; CHECK: call void @"metalloid.store.<32 x i16>.in.1.aligned.2.parts.1.by.2.4.8.2048.4096.lanes.32"(
; CHECK: call void @"metalloid.store.<32 x i16>.in.1.aligned.2.parts.1.along.0.1.2.lanes.32"(<32 x i16> {{.*}}, ptr addrspace(1) {{[^,]*}}, ptr addrspace(1) {{[^,]*}}, ptr addrspace(1) {{[^,]*}}, ptr addrspace(1) {{[^,]*}}, i32 {{.*}})
; CHECK: define internal void @"metalloid.store.{{.*}}.by.{{.*}}"(<32 x i16> %0, ptr addrspace(1) %1, i32 %2)
; CHECK: all:
; CHECK-COUNT-4: store <8 x i16>
; CHECK-NEXT: ret void
; CHECK: some:
; CHECK-COUNT-4: call void @llvm.masked.store.v8i16
; CHECK-NEXT: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
entry:
  %run = lshr i32 %position, 3
  %within = and i32 %position, 7
  %start = mul nuw nsw i32 %run, 1024
  %index = or disjoint i32 %start, %within
  %i = zext i32 %index to i64
  %value = trunc i32 %position to i16
  %first = getelementptr i16, ptr addrspace(1) %out, i64 %i
  %place0 = getelementptr i8, ptr addrspace(1) %first, i64 0
  store i16 %value, ptr addrspace(1) %place0
  %place1 = getelementptr i8, ptr addrspace(1) %first, i64 16
  store i16 %value, ptr addrspace(1) %place1
  %place2 = getelementptr i8, ptr addrspace(1) %first, i64 32
  store i16 %value, ptr addrspace(1) %place2
  %place3 = getelementptr i8, ptr addrspace(1) %first, i64 48
  store i16 %value, ptr addrspace(1) %place3
  %place4 = getelementptr i8, ptr addrspace(1) %first, i64 64
  store i16 %value, ptr addrspace(1) %place4
  %place5 = getelementptr i8, ptr addrspace(1) %first, i64 80
  store i16 %value, ptr addrspace(1) %place5
  %place6 = getelementptr i8, ptr addrspace(1) %first, i64 96
  store i16 %value, ptr addrspace(1) %place6
  %place7 = getelementptr i8, ptr addrspace(1) %first, i64 112
  store i16 %value, ptr addrspace(1) %place7
  %place8 = getelementptr i8, ptr addrspace(1) %first, i64 128
  store i16 %value, ptr addrspace(1) %place8
  %place9 = getelementptr i8, ptr addrspace(1) %first, i64 144
  store i16 %value, ptr addrspace(1) %place9
  %place10 = getelementptr i8, ptr addrspace(1) %first, i64 160
  store i16 %value, ptr addrspace(1) %place10
  %place11 = getelementptr i8, ptr addrspace(1) %first, i64 176
  store i16 %value, ptr addrspace(1) %place11
  %place12 = getelementptr i8, ptr addrspace(1) %first, i64 192
  store i16 %value, ptr addrspace(1) %place12
  %place13 = getelementptr i8, ptr addrspace(1) %first, i64 208
  store i16 %value, ptr addrspace(1) %place13
  %place14 = getelementptr i8, ptr addrspace(1) %first, i64 224
  store i16 %value, ptr addrspace(1) %place14
  %place15 = getelementptr i8, ptr addrspace(1) %first, i64 240
  store i16 %value, ptr addrspace(1) %place15
  %few = icmp ult i32 %position, 20
  br i1 %few, label %more, label %last

more:
  %place16 = getelementptr i8, ptr addrspace(1) %first, i64 256
  store i16 %value, ptr addrspace(1) %place16
  %turned = mul i32 %run, %run
  %anywhere = zext i32 %turned to i64
  %apart = getelementptr i16, ptr addrspace(1) %first, i64 %anywhere
  store i16 %value, ptr addrspace(1) %apart
  br label %last

last:
  ret void
}
