; A fill becomes stores of elements, which lie side by side for all lanes as those that are stored alone.
; RUN: lower_arguments_of_a_lane interleave_variables
; ARGUMENT: buffer

; CHECK: alloca [{{512 x i8|128 x i32|4 x \[32 x i32\]}}]{{.*}}!metalloid.of_simdgroup
; CHECK-COUNT-4: store i32 16843009, ptr
; CHECK: ret void

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @kernel(ptr addrspace(1) %out) {
  %a = alloca [4 x i32]
  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 16, i1 false)
  %index = load i32, ptr addrspace(1) %out
  %place = getelementptr [4 x i32], ptr %a, i32 0, i32 %index
  %element = load i32, ptr %place
  store i32 %element, ptr addrspace(1) %out
  ret void
}
