; Copies of a vector are loads and stores as wide as their alignment; those of variables that go away anyway stay.
; RUN: expand_copies
; ARGUMENT: buffer
; ARGUMENT: threadgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[WHOLE:%.*]] = load <4 x i32>, ptr addrspace(1) {{.*}}, align 16
; CHECK: store <4 x i32> [[WHOLE]], ptr addrspace(3) {{.*}}, align 16
; CHECK: load i64, ptr addrspace(1) {{.*}}, align 8
; CHECK: load i64, ptr addrspace(1) {{.*}}, align 8
; CHECK: call void @llvm.memcpy.p0.p1.i64(ptr %own

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %tile) {
entry:
  %own = alloca [16 x i8], align 16
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %tile, ptr addrspace(1) align 16 %x, i64 16, i1 false)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %tile, ptr addrspace(1) align 8 %x, i64 16, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr %own, ptr addrspace(1) align 16 %x, i64 16, i1 false)
  ret void
}
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
