; What a turn of a loop has does not come from the one before: where lanes go different ways and the first of these is
; stepped over, the variable of the value that they bring begins each turn anew.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: turn.i:
; CHECK: store <32 x float> undef, ptr [[VALUE:%[0-9]+]]
; CHECK: small.i:
; CHECK: load <32 x float>, ptr [[VALUE]]
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
entry:
  %i = zext i32 %position to i64
  %place = getelementptr float, ptr addrspace(1) %out, i64 %i
  br label %turn

turn:
  %k = phi i32 [ 0, %entry ], [ %next, %meet ]
  %old = load float, ptr addrspace(1) %place
  %is_small = fcmp olt float %old, 1.0
  br i1 %is_small, label %small, label %large

small:
  %other = getelementptr float, ptr addrspace(1) %place, i64 64
  %read = load float, ptr addrspace(1) %other
  br label %meet

large:
  %less = fsub float %old, 1.0
  br label %meet

meet:
  %value = phi float [ %read, %small ], [ %less, %large ]
  store float %value, ptr addrspace(1) %place
  %next = add i32 %k, 1
  %again = icmp ult i32 %next, 10
  br i1 %again, label %turn, label %done

done:
  ret void
}
