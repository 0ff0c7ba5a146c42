; Members of a constant reference come from the launch's parameters, or from where it lies, at the kernel's beginning.
; RUN: lower_arguments_of_a_gpu read_references
; ARGUMENT: buffer
; ARGUMENT: reference

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: [[IS_OWN:%.*]] = icmp ult i64 {{%.*}}, 4096
; CHECK: [[PLACE:%.*]] = getelementptr inbounds i8, ptr %0, i64 196
; CHECK-NEXT: [[OWN:%.*]] = load i32, ptr [[PLACE]], align 4, !invariant.load
; CHECK: br i1 {{%.*}}, label %[[ELSEWHERE:[0-9]+]], label %[[REST:[0-9]+]]
; CHECK: [[ELSEWHERE]]:
; CHECK: [[FAR:%.*]] = load volatile i32, ptr
; CHECK: [[REST]]:
; CHECK: [[SECOND:%.*]] = phi i32 [ [[OWN]], %entry ], [ [[FAR]], %[[ELSEWHERE]] ]
; CHECK-NOT: load i32, ptr addrspace(2)
; CHECK: store i32 [[SECOND]]

define void @kernel(ptr addrspace(1) %out, ptr addrspace(2) %sizes) {
entry:
  %place = getelementptr i8, ptr addrspace(2) %sizes, i64 4
  %second = load i32, ptr addrspace(2) %place
  store i32 %second, ptr addrspace(1) %out
  ret void
}
