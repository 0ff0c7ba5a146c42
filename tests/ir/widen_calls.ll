; A function that stays a call gets its lanes as bits. What all callers have in common stays one value: what all lanes
; share, and where a row begins; other parameters and results are vectors.
; RUN: lower_arguments_of_a_lane pass_first_thread place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[OWN:%.*]] = load <32 x i32>
; CHECK: call <32 x i32> @mix.simdgroup(i32 {{.*}}, ptr addrspace(1) {{.*}}, <32 x i32> [[OWN]], ptr %{{.*}}, i32 %{{.*}}, i32 -1)
; CHECK: some.i:
; CHECK: call <32 x i32> @mix.simdgroup(i32 7, ptr addrspace(1) {{.*}}, <32 x i32> splat (i32 1), ptr %{{.*}}, i32 %{{.*}}, i32 %{{.*}})
; CHECK-LABEL: define internal <32 x i32> @mix.simdgroup(i32 %same, ptr addrspace(1) %row, <32 x i32> %own, ptr %state, i32 %first_thread, i32 %{{.*}})
; CHECK: [[LANES:%.*]] = bitcast i32 %{{.*}} to <32 x i1>
; CHECK: call <32 x i32> @llvm.masked.load.v32i32.p1(ptr addrspace(1) {{.*}}%row, <32 x i1> [[LANES]]
; CHECK: ret <32 x i32>

define void @kernel(ptr addrspace(1) %x, i32 %position) {
entry:
  %uniform = load i32, ptr addrspace(1) %x
  %place = getelementptr i32, ptr addrspace(1) %x, i32 %position
  %own = load i32, ptr addrspace(1) %place
  %mixed = call i32 @mix(i32 %uniform, ptr addrspace(1) %place, i32 %own)
  %odd = and i32 %mixed, 1
  %is.odd = icmp ne i32 %odd, 0
  br i1 %is.odd, label %some, label %end
some:
  %again = call i32 @mix(i32 7, ptr addrspace(1) %place, i32 1)
  store i32 %again, ptr addrspace(1) %place
  br label %end
end:
  ret void
}

define internal i32 @mix(i32 %same, ptr addrspace(1) %row, i32 %own) noinline {
entry:
  %there = load i32, ptr addrspace(1) %row
  %sum = add i32 %there, %own
  %mixed = mul i32 %sum, %same
  ret i32 %mixed
}
