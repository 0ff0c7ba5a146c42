; Between two meetings with nothing but reads around it, and writes to the thread's own variables, a simdgroup barrier
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
  call void @variables(ptr addrspace(1) %out, ptr null, ptr null, ptr null, i1 true)
  ret void
}

; CHECK-LABEL: define internal void @variables(
; CHECK: store i32 1, ptr %own
; CHECK-NEXT: store i32 2, ptr %copy
; CHECK-NEXT: store i32 3, ptr %marked
; CHECK-NEXT: call i32 @metalloid.simd.sum.u32(
; CHECK-NEXT: call void @metalloid.simdgroup_barrier(
; CHECK-NEXT: store i32 4, ptr %mixed
; CHECK: call void @metalloid.simdgroup_barrier(
; CHECK-NEXT: store i32 5, ptr %any
define void @variables(ptr addrspace(1) %x, ptr byval(i32) %copy, ptr "metalloid.thread" %marked, ptr %any, i1 %c) {
  %a = alloca i32
  %b = alloca i32
  %px = addrspacecast ptr addrspace(1) %x to ptr
  %own = select i1 %c, ptr %a, ptr %b
  %mixed = select i1 %c, ptr %a, ptr %px
  %1 = call i32 @metalloid.simd.sum.u32(i32 1)
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  store i32 1, ptr %own
  store i32 2, ptr %copy
  store i32 3, ptr %marked
  %2 = call i32 @metalloid.simd.sum.u32(i32 2)
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  store i32 4, ptr %mixed
  %3 = call i32 @metalloid.simd.sum.u32(i32 3)
  call void @metalloid.simdgroup_barrier(i32 2, i32 4, i32 4)
  store i32 5, ptr %any
  %4 = call i32 @metalloid.simd.sum.u32(i32 4)
  call void @use(ptr %a, ptr %b)
  ret void
}
declare void @use(ptr, ptr)
