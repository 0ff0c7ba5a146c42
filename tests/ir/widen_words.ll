; What a lane reads from places side by side, anywhere in memory, is gathered by words and taken out of them.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[PAIRS:%.*]] = call <32 x i64> @llvm.masked.gather.v32i64.v32p1(
; CHECK: shufflevector <64 x i32> {{.*}} <32 x i32> <i32 1, i32 3, i32 5
; CHECK: [[BYTES:%.*]] = call <32 x i32> @llvm.masked.gather.v32i32.v32p1(
; CHECK: lshr <32 x i32> [[BYTES]], splat (i32 24)
; CHECK: ret void

define void @kernel(ptr addrspace(1) %in, i32 %position) {
  %i = zext i32 %position to i64
  %row = getelementptr i32, ptr addrspace(1) %in, i64 %i
  %index = load i32, ptr addrspace(1) %row, align 1
  %pair.place = getelementptr [2 x float], ptr addrspace(1) %in, i32 %index
  %pair = load <2 x float>, ptr addrspace(1) %pair.place, align 1
  %y = extractelement <2 x float> %pair, i32 1
  %bytes.place = getelementptr [4 x i8], ptr addrspace(1) %in, i32 %index
  %bytes = load <4 x i8>, ptr addrspace(1) %bytes.place, align 1
  %byte = extractelement <4 x i8> %bytes, i32 3
  %number = uitofp i8 %byte to float
  %sum = fadd float %y, %number
  store float %sum, ptr addrspace(1) %row, align 1
  ret void
}
