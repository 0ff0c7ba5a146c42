; Reads between writes come before them where the arguments are far enough from each other, in memory or, if their
; indices are not a constant apart, with all of it. Nothing is asked where nothing would be joined, or where a read is
; of what the same argument's write has just left.
; RUN: lower_arguments_of_a_lane read_before_writing join_accesses
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK: [[DISTANCE:%.*]] = sub i64 {{.*}}, {{.*}}
; CHECK: [[FURTHER:%.*]] = sub i64 [[DISTANCE]], -7
; CHECK: [[FAR:%.*]] = icmp ugt i64 [[FURTHER]], 6
; CHECK: [[BEHIND:%.*]] = icmp ule i64
; CHECK: [[BEFORE:%.*]] = icmp ule i64
; CHECK: [[APART:%.*]] = or i1 [[BEHIND]], [[BEFORE]]
; CHECK: [[ALL:%.*]] = and i1 [[FAR]], [[APART]]
; CHECK: br i1 [[ALL]], label %[[READS_FIRST:.*]], label
; CHECK: [[READS_FIRST]]:
; CHECK: load <2 x float>
; CHECK: store <2 x float>
; CHECK: br label %[[BEHIND_BOTH:.*]]
; CHECK: store float
; CHECK: load float
; CHECK: store float
; CHECK: [[BEHIND_BOTH]]:
; CHECK: phi float
; CHECK-NOT: br i1
; CHECK: ret void

define void @kernel(ptr addrspace(1) %from, ptr addrspace(1) %to, ptr addrspace(1) %factors, i32 %position) {
  %index = shl i32 %position, 1
  %first = zext i32 %index to i64
  %odd = or disjoint i32 %index, 1
  %second = zext i32 %odd to i64
  %from.first = getelementptr float, ptr addrspace(1) %from, i64 %first
  %from.second = getelementptr float, ptr addrspace(1) %from, i64 %second
  %to.first = getelementptr float, ptr addrspace(1) %to, i64 %first
  %to.second = getelementptr float, ptr addrspace(1) %to, i64 %second
  %a = load float, ptr addrspace(1) %from.first
  store float %a, ptr addrspace(1) %to.first
  %b = load float, ptr addrspace(1) %from.second
  %factor = load float, ptr addrspace(1) %factors
  %product = fmul float %b, %factor
  store float %product, ptr addrspace(1) %to.second
  fence seq_cst
  %c = load float, ptr addrspace(1) %to.first
  store float %product, ptr addrspace(1) %to.first
  %d = load float, ptr addrspace(1) %to.first
  %sum = fadd float %c, %d
  store float %sum, ptr addrspace(1) %to.second
  fence seq_cst
  %e = load float, ptr addrspace(1) %from.first
  store float %e, ptr addrspace(1) %to.first
  %f = load float, ptr addrspace(1) %factors
  store float %f, ptr addrspace(1) %to.first
  store float %product, ptr addrspace(1) %from
  ret void
}
