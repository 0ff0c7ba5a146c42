; Constants that hold addresses of threadgroup memory, or of such constants, become variables of each thread that the
; kernel fills; what else is in them is copied.
; RUN: place_threadgroup_addresses
; RUN(PLACED): place_threadgroup_addresses place_thread_variables lower_arguments lower_threadgroup_memory
; ARGUMENT: thread_index_in_threadgroup

; CHECK-DAG: @rows = external {{.*}}global [2 x ptr addrspace(3)], align 16, !metalloid.thread
; CHECK-DAG: @mixed = external {{.*}}global { i32, [2 x { ptr, i32 }] }, align 8, !metalloid.thread
; CHECK-DAG: @nested = external {{.*}}global [1 x ptr], !metalloid.thread
; CHECK-DAG: @far = external global [2 x ptr addrspace(3)], align 8, !metalloid.thread
; CHECK-DAG: @plain = internal constant [2 x i32] [i32 1, i32 2]
; CHECK-DAG: @mixed.rest = internal constant {{.*}} { i32 7, {{.*}}[{ ptr, i32 } zeroinitializer, { ptr, i32 } { ptr null, i32 9 }] }, align 8
; CHECK-LABEL: define void @kernel(
; CHECK: %own = alloca
; CHECK-DAG: store ptr addrspace(3) @t, ptr @rows, align 16
; CHECK-DAG: store ptr addrspace(3) @u, ptr getelementptr (i8, ptr @rows, i64 8), align 8
; CHECK-DAG: call void @llvm.memcpy{{.*}}(ptr align 8 @mixed, ptr align 8 @mixed.rest, i64 40,
; CHECK-DAG: store ptr addrspacecast (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @t, i64 4) to ptr), ptr getelementptr (i8, ptr @mixed, i64 8), align 8
; CHECK-DAG: store ptr @rows, ptr @nested
; CHECK-DAG: store ptr addrspace(3) @u, ptr @far, align 8
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 16 %own, ptr align 16 @rows, i64 16, i1 false)
; CHECK: [[FAR:%.*]] = getelementptr ptr addrspace(3), ptr @far, i32 %i
; CHECK: load ptr addrspace(3), ptr [[FAR]]

; PLACED-NOT: @rows
; PLACED-LABEL: define {{.*}}@metalloid_run_threadgroup(
; PLACED: = alloca [2 x ptr addrspace(3)], align 16
; PLACED-NOT: @t

@t = internal addrspace(3) global [64 x float] undef, align 16
@u = internal addrspace(3) global [64 x float] undef, align 16
@rows = internal unnamed_addr constant [2 x ptr addrspace(3)] [ptr addrspace(3) @t, ptr addrspace(3) @u], align 16
@mixed = internal constant { i32, [2 x { ptr, i32 }] } { i32 7, [2 x { ptr, i32 }] [{ ptr, i32 } { ptr addrspacecast (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @t, i64 4) to ptr), i32 0 }, { ptr, i32 } { ptr null, i32 9 }] }, align 8
@nested = internal constant [1 x ptr] [ptr @rows]
@far = internal addrspace(2) constant [2 x ptr addrspace(3)] [ptr addrspace(3) @u, ptr addrspace(3) null], align 8
@plain = internal constant [2 x i32] [i32 1, i32 2]

define void @kernel(i32 %i) {
  %own = alloca [2 x ptr addrspace(3)], align 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %own, ptr align 16 @rows, i64 16, i1 false)
  %at = getelementptr [2 x ptr addrspace(3)], ptr %own, i32 0, i32 %i
  %row = load ptr addrspace(3), ptr %at
  store float 1.0, ptr addrspace(3) %row
  %inner = load ptr, ptr @nested
  %first = load ptr, ptr getelementptr (i8, ptr @mixed, i64 8)
  %place = getelementptr ptr addrspace(3), ptr addrspace(2) @far, i32 %i
  %away = load ptr addrspace(3), ptr addrspace(2) %place
  store float 2.0, ptr addrspace(3) %away
  %number = load i32, ptr @plain
  store ptr %first, ptr %inner
  store i32 %number, ptr %inner
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
