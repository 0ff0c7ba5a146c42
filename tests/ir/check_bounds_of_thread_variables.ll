; Where accesses outside of a thread's own variables are ignored, they are left out there, and reads give zero; other
; memory has its checks.
; RUN: lower_arguments check_bounds
; ARGUMENT: buffer

!metalloid.ignores_thread_overruns = !{}

; CHECK-LABEL: define void @metalloid_run_threadgroup(
; CHECK: call void @metalloid_check_bounds(
; CHECK: [[READS:%.*]] = icmp ult i64 [[AT:%.*]], {{.*}}
; CHECK: br i1 [[READS]], label %[[READ:.*]], label %[[ON:.*]], !prof
; CHECK: [[READ]]:
; CHECK: [[VALUE:%.*]] = load float, ptr %place.i
; CHECK: [[ON]]:
; CHECK: phi float [ [[VALUE]], %[[READ]] ], [ 0.000000e+00, %{{.*}} ]
; CHECK-NOT: call void @metalloid_check_bounds
; CHECK: br i1 {{.*}}, label %[[WRITE:.*]], label %{{.*}}, !prof
; CHECK: [[WRITE]]:
; CHECK: store float {{.*}}, ptr %place.i

define void @kernel(ptr addrspace(1) %x) {
entry:
  %own = alloca [4 x float], align 4
  %i = load i64, ptr addrspace(1) %x
  %place = getelementptr float, ptr %own, i64 %i
  %value = load float, ptr %place
  %more = fadd float %value, 1.0
  store float %more, ptr %place
  %known = getelementptr float, ptr %own, i64 3
  store float %more, ptr %known
  ret void
}
