; Elements with the same index lie side by side for all lanes.
; RUN: lower_arguments_of_a_lane interleave_variables
; ARGUMENT: buffer

; CHECK: alloca [{{1024 x i8|256 x i32|8 x \[32 x i32\]}}]{{.*}}!metalloid.of_simdgroup
; CHECK: call i32 @metalloid_lane_number()
; CHECK: {{mul|shl}} {{.*}}{{128|32|7|5}}
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out) {
  %a = alloca [8 x i32]
  %index = load i32, ptr addrspace(1) %out
  %place = getelementptr [8 x i32], ptr %a, i32 0, i32 %index
  store i32 7, ptr %place
  %first = load i32, ptr %a
  store i32 %first, ptr addrspace(1) %out
  ret void
}
