; One place for all lanes is a scalar access, a row one vector access, a row with gaps a wider one that is sorted out in
; registers, and places anywhere are gathered.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; RUN(SOME): lower_arguments_of_a_lane place_lanes_anywhere simplify_control_flow widen_some
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[SCALE:%.*]] = load float, ptr addrspace(1)
; CHECK: [[ROW:%.*]] = load <32 x float>, ptr addrspace(1)
; CHECK: [[PAIRS:%.*]] = {{.*}}<64 x i32>
; CHECK: shufflevector <64 x i32> {{.*}} <32 x i32> <i32 0, i32 2, i32 4
; CHECK: call <32 x float> @llvm.masked.gather.v32f32.v32p1(
; CHECK: fmul <32 x float>
; CHECK: store <32 x float> {{.*}}, ptr addrspace(1)
; CHECK: ret void

; SOME: [[LANES:%.*]] = icmp ult <32 x i32> <i32 0, i32 1, {{.*}}>, 
; SOME: ret void

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
  %scale = load float, ptr addrspace(1) %in
  %i = zext i32 %position to i64
  %row.place = getelementptr float, ptr addrspace(1) %in, i64 %i
  %row = load float, ptr addrspace(1) %row.place
  %gap.place = getelementptr { i32, i32 }, ptr addrspace(1) %in, i64 %i
  %index = load i32, ptr addrspace(1) %gap.place
  %anywhere.place = getelementptr float, ptr addrspace(1) %in, i32 %index
  %anywhere = load float, ptr addrspace(1) %anywhere.place
  %sum = fadd float %row, %anywhere
  %result = fmul float %sum, %scale
  %out.place = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %result, ptr addrspace(1) %out.place
  ret void
}
