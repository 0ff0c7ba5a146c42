; Lanes' elements of 16 bytes, far apart, are a load each and sorted out in registers. Where not all lanes take part they
; are read one by one; blocks with such loads are there twice.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: icmp eq i32 {{.*}}, -1
; CHECK: br i1 {{.*}}, label %[[ALL:.*]], label %[[SOME:.*]]
; CHECK: [[SOME]]:
; CHECK: each.lane:
; CHECK: load <4 x float>, ptr addrspace(1)
; CHECK: [[ALL]]:
; CHECK-COUNT-32: load <4 x float>, ptr addrspace(1)
; CHECK: shufflevector <32 x float> {{.*}} <32 x i32> <i32 0, i32 32, i32 1, i32 33, i32 4, i32 36
; CHECK: store <32 x float> {{.*}}, ptr addrspace(1)

define void @kernel(ptr addrspace(1) %in, i32 %position) {
  %is.some = icmp ult i32 %position, 100
  br i1 %is.some, label %some, label %end

some:
  %i = zext i32 %position to i64
  %place = getelementptr [128 x i8], ptr addrspace(1) %in, i64 %i
  %value = load <4 x float>, ptr addrspace(1) %place, align 1
  %x = extractelement <4 x float> %value, i32 0
  %w = extractelement <4 x float> %value, i32 3
  %sum = fadd float %x, %w
  %out = getelementptr float, ptr addrspace(1) %in, i64 %i
  store float %sum, ptr addrspace(1) %out, align 1
  br label %end

end:
  ret void
}
