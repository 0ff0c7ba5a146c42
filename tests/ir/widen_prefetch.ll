; Lanes that ask for places that follow from one lane's ask for each line once, from the first place to the last one, 270
; bytes behind it. Rows are not asked for, nor places anywhere.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-COUNT-5: call void @llvm.prefetch.p1(ptr addrspace(1) {{.*}}, i32 0, i32 3, i32 1)
; CHECK-COUNT-2: call void @llvm.prefetch.p1(ptr addrspace(1) {{.*}}, i32 0, i32 2, i32 1)
; CHECK-COUNT-2: call void @llvm.prefetch.p1(ptr addrspace(1) {{.*}}, i32 0, i32 3, i32 1)
; CHECK-NOT: call void @llvm.prefetch
; CHECK: ret void

define void @kernel(ptr addrspace(1) %in, i32 %position) {
  %half = lshr i32 %position, 1
  %block = zext i32 %half to i64
  %place = getelementptr [18 x i8], ptr addrspace(1) %in, i64 %block
  call void @llvm.prefetch.p1(ptr addrspace(1) %place, i32 0, i32 3, i32 1)
  %i = zext i32 %position to i64
  %row = getelementptr float, ptr addrspace(1) %in, i64 %i
  call void @llvm.prefetch.p1(ptr addrspace(1) %row, i32 0, i32 3, i32 1)
  call void @llvm.prefetch.p1(ptr addrspace(1) %row, i32 0, i32 2, i32 1)
  %lane.row = lshr i32 %position, 4
  %column = and i32 %position, 15
  %columns = load i32, ptr addrspace(1) %in, align 4
  %start = mul i32 %lane.row, %columns
  %at = add i32 %start, %column
  %wide.at = zext i32 %at to i64
  %run = getelementptr float, ptr addrspace(1) %in, i64 %wide.at
  call void @llvm.prefetch.p1(ptr addrspace(1) %run, i32 0, i32 3, i32 1)
  %index = load i32, ptr addrspace(1) %row, align 4
  %wide = zext i32 %index to i64
  %anywhere = getelementptr float, ptr addrspace(1) %in, i64 %wide
  call void @llvm.prefetch.p1(ptr addrspace(1) %anywhere, i32 0, i32 3, i32 1)
  ret void
}

declare void @llvm.prefetch.p1(ptr addrspace(1), i32, i32, i32)
