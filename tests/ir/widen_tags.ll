; The tags of addresses that differ from lane to lane are taken off all of them at once.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[BARE:%.*]] = call <32 x ptr addrspace(1)> @llvm.ptrmask.v32p1.v32i64(<32 x ptr addrspace(1)> {{.*}}, <32 x i64> splat (i64 281474976710655))
; CHECK: call <32 x i32> @llvm.masked.gather.v32i32.v32p1(<32 x ptr addrspace(1)> {{.*}}[[BARE]]
; CHECK: ret void

define void @kernel(ptr addrspace(1) %x, i32 %position) {
  %i = zext i32 %position to i64
  %place = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %index = load i32, ptr addrspace(1) %place
  %wide = zext i32 %index to i64
  %anywhere = getelementptr i32, ptr addrspace(1) %x, i64 %wide
  %bare = call ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1) %anywhere, i64 281474976710655)
  %value = load i32, ptr addrspace(1) %bare
  store i32 %value, ptr addrspace(1) %place
  ret void
}

declare ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1), i64)
