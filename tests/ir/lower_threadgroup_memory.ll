; Threadgroup variables lie one behind the other, at their alignment, in the memory that the state names.
; RUN: lower_arguments lower_threadgroup_memory
; ARGUMENT: buffer

; CHECK-NOT: @tile
; CHECK-LABEL: define void @metalloid_run_threadgroup(
; CHECK: [[SLOT:%.*]] = getelementptr {{.*}}, ptr %0, i64 8
; CHECK: [[BASE:%.*]] = load ptr addrspace(3), ptr [[SLOT]]
; CHECK-DAG: getelementptr {{.*}}ptr addrspace(3) [[BASE]], i64 {{0|16}}
; CHECK: store float 1.000000e+00, ptr addrspace(3)
; CHECK: store <4 x float> zeroinitializer, ptr addrspace(3)

@tile = internal addrspace(3) global [3 x float] undef
@quad = internal addrspace(3) global <4 x float> undef, align 16

define void @kernel(ptr addrspace(1) %out) {
  store float 1.0, ptr addrspace(3) @tile
  store <4 x float> zeroinitializer, ptr addrspace(3) @quad
  ret void
}
