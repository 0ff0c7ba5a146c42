; Where lanes go different ways both ways run, each for its lanes and stepped over if there are none; a branch that all
; take alike stays a branch.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: [[ODD:%.*]] = icmp ne <32 x i32>
; CHECK: odd.i.check:
; CHECK: br i1 {{.*}}, label %odd.i, label
; CHECK: odd.i:
; CHECK: call void @llvm.masked.store.v32i32.p1(<32 x i32> splat (i32 1), ptr addrspace(1) {{.*}}, <32 x i1>
; CHECK: joined.i:
; CHECK: [[ALL:%.*]] = icmp eq i32 {{.*}}, 9
; CHECK: br i1 [[ALL]]
; CHECK-NOT: alike.i.check:
; CHECK: alike.i:
; CHECK: <32 x i32> splat (i32 3), ptr addrspace(1)
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
entry:
  %uniform = load i32, ptr addrspace(1) %out
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  %own = load i32, ptr addrspace(1) %place
  %bit = and i32 %own, 1
  %is.odd = icmp ne i32 %bit, 0
  br i1 %is.odd, label %odd, label %joined
odd:
  store i32 1, ptr addrspace(1) %place
  br label %joined
joined:
  %all = icmp eq i32 %uniform, 9
  br i1 %all, label %alike, label %end
alike:
  store i32 3, ptr addrspace(1) %place
  br label %end
end:
  ret void
}
