; Where registers are of 256 bits programs take twice as many of them, and 8 lanes fill one: a long program of numbers of
; 32 bits runs with 8. Where they are longer it runs with 16, however long it is.
; RUN: lower_arguments_of_a_lane choose_width_of_short_registers place_lanes simplify_control_flow widen
; RUN(LONG): lower_arguments_of_a_lane choose_width_of_long_registers place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: load <8 x i32>, ptr addrspace(1)
; CHECK: store <8 x i32> {{.*}}, ptr addrspace(1)
; CHECK: "metalloid.step_width"="8"

; LONG-LABEL: define {{.*}}void @row.simdgroup(
; LONG: load <16 x i32>, ptr addrspace(1)

define void @kernel(ptr addrspace(1) %x, i32 %position) {
  %i = zext i32 %position to i64
  %place = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %a = load i32, ptr addrspace(1) %place
  %b = mul i32 %a, %a
  %c = xor i32 %b, %a
  %d = mul i32 %c, %b
  store i32 %d, ptr addrspace(1) %place
  ret void
}
