; Calls of what defines a whole operation become calls of the operation, for an engine that wants it (this one: loads from
; device memory, and what is no load). Others, and those whose types are none of the operation's, stay.
; RUN: take_operations
; ARGUMENT: buffer
; ARGUMENT: buffer

define <2 x half> @load_device(ptr addrspace(1) %p, i64 %row, i64 %x, i64 %y, i1 %t) alwaysinline "metalloid.operation"="simdgroup_matrix.load" {
  ret <2 x half> zeroinitializer
}
define <2 x half> @load_constant(ptr addrspace(2) %p, i64 %row, i64 %x, i64 %y, i1 %t) alwaysinline "metalloid.operation"="simdgroup_matrix.load" {
  ret <2 x half> zeroinitializer
}
define <2 x half> @load_anywhere(ptr %p, i64 %row, i64 %x, i64 %y, i1 %t) alwaysinline "metalloid.operation"="simdgroup_matrix.load" {
  ret <2 x half> zeroinitializer
}
define void @reduce(ptr %p, i64 %c, i64 %r, i64 %f, i64 %s, i64 %z, i32 %e, ptr %to, i32 %to_e, i1 %rows, i32 %what) alwaysinline "metalloid.operation"="cooperative_tensor.reduce.simdgroup" {
  ret void
}

; CHECK-NOT: define {{.*}}@load_device
; CHECK: define {{.*}}@load_constant
; CHECK: define {{.*}}@load_anywhere
; CHECK-NOT: define {{.*}}@reduce
; CHECK: define void @kernel
; CHECK: call <2 x half> @metalloid.simdgroup_matrix.load.f16.device(ptr addrspace(1) %x, i64 8, i64 1, i64 2, i1 true) [[MEETS:#[0-9]+]]
; CHECK: call <2 x half> @load_constant(
; CHECK: call <2 x half> @load_anywhere(
; CHECK: call void @metalloid.cooperative_tensor.reduce.simdgroup.held(ptr %m, i64 8, i64 8, i64 8, i64 1, i64 0, i32 2, ptr %m, i32 2, i1 true, i32 1)
; CHECK: declare <2 x half> @metalloid.simdgroup_matrix.load.f16.device(ptr addrspace(1), i64, i64, i64, i1)
; CHECK: attributes [[MEETS]] = { convergent }
define void @kernel(ptr addrspace(1) %x, ptr addrspace(2) %y) {
  %m = alloca [2 x float]
  %a = call <2 x half> @load_device(ptr addrspace(1) %x, i64 8, i64 1, i64 2, i1 true)
  %b = call <2 x half> @load_constant(ptr addrspace(2) %y, i64 8, i64 0, i64 0, i1 false)
  %p = addrspacecast ptr addrspace(1) %x to ptr
  %c = call <2 x half> @load_anywhere(ptr %p, i64 8, i64 0, i64 0, i1 false)
  call void @reduce(ptr %m, i64 8, i64 8, i64 8, i64 1, i64 0, i32 2, ptr %m, i32 2, i1 true, i32 1)
  %s = fadd <2 x half> %a, %b
  %t = fadd <2 x half> %s, %c
  store <2 x half> %t, ptr addrspace(1) %x
  ret void
}
