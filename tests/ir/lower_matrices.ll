; Products that stand together share one meeting: elements go to registers, one call, and one result comes back.
; RUN: lower_arguments lower_matrices
; ARGUMENT: buffer

; CHECK: @metalloid_matrix_program
; CHECK-LABEL: define void @metalloid_run_thread(
; CHECK-NOT: multiply_accumulate
; CHECK: call void @metalloid_matrices(ptr null, ptr null, ptr @metalloid_matrix_program
; CHECK-NOT: call void @metalloid_matrices
; CHECK: store <2 x float> %{{.*}}, ptr addrspace(1)

declare <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float>, <2 x float>, <2 x float>) convergent nounwind memory(none)
declare i32 @metalloid.simd.sum.u32(i32) convergent nounwind memory(inaccessiblemem: readwrite)

define void @kernel(ptr addrspace(1) %p) convergent {
  %a = load <2 x float>, ptr addrspace(1) %p
  %d = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float> %a, <2 x float> %a, <2 x float> zeroinitializer) convergent
  %e = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f32.f32(<2 x float> %a, <2 x float> %a, <2 x float> %d) convergent
  store <2 x float> %e, ptr addrspace(1) %p
  ret void
}
