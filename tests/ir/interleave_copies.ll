; Copies, long fills and what is wider than its elements become accesses of elements, in all variables that are copied to
; each other; what they are copied from is read by words.
; RUN: lower_arguments_of_a_lane interleave_variables
; ARGUMENT: buffer

; CHECK: alloca [3200 x i8]{{.*}}!metalloid.of_simdgroup
; CHECK: alloca [256 x i8]{{.*}}!metalloid.of_simdgroup
; CHECK: alloca [256 x i8]{{.*}}!metalloid.of_simdgroup
; CHECK: load i32, ptr addrspace(1)
; CHECK: load i32, ptr addrspace(1)
; CHECK-COUNT-8: store i8 {{.*}}, align 1
; CHECK-COUNT-8: load i8, ptr
; CHECK-COUNT-8: store i8 {{.*}}, align 1
; CHECK: phi i64
; CHECK: store i8 7
; CHECK-COUNT-4: load i8, ptr
; CHECK: ret void

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @kernel(ptr addrspace(1) %out) {
  %a = alloca [8 x i8]
  %b = alloca [8 x i8]
  %c = alloca [100 x i8]
  %index = load i32, ptr addrspace(1) %out
  call void @llvm.memcpy.p0.p1.i64(ptr %a, ptr addrspace(1) %out, i64 8, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 8, i1 false)
  call void @llvm.memset.p0.i64(ptr %c, i8 7, i64 100, i1 false)
  %place = getelementptr i8, ptr %b, i32 %index
  %own = load i8, ptr %place
  %word = load i32, ptr %b
  %other = getelementptr i8, ptr %c, i32 %index
  %filled = load i8, ptr %other
  %sum = add i8 %own, %filled
  %wide = zext i8 %sum to i32
  %all = add i32 %word, %wide
  store i32 %all, ptr addrspace(1) %out
  ret void
}
