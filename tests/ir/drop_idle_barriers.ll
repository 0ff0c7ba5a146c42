; Between two meetings with nothing but reads around it, a simdgroup barrier
; orders nothing. With a write on either side it stays, and so does every barrier of a threadgroup.
; RUN: drop_idle_barriers

; CHECK-LABEL: define void @kernel(
; CHECK: call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
; CHECK-NEXT: %a = load
; CHECK-NEXT: %b = load
; CHECK-NEXT: %s = call i32 @metalloid.simd.sum.u32(
; CHECK-NEXT: call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
; CHECK-NEXT: store i32 %s
; CHECK-NEXT: call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
; CHECK-NEXT: %c = load
; CHECK-NEXT: call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.simdgroup_barrier(i32, i32, i32) convergent
declare i32 @metalloid.simd.sum.u32(i32) convergent nounwind memory(inaccessiblemem: readwrite)

define void @kernel(ptr addrspace(3) %t, ptr addrspace(1) %out) {
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  %a = load i32, ptr addrspace(3) %t
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  %b = load i32, ptr addrspace(3) %t
  %s = call i32 @metalloid.simd.sum.u32(i32 %b)
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  store i32 %s, ptr addrspace(3) %t
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  %c = load i32, ptr addrspace(3) %t
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  store i32 %c, ptr addrspace(1) %out
  ret void
}
