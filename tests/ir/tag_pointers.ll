; What is handed to a function that stays a call says which argument it belongs to, null too. There it is taken off
; at once. What a thread keeps where it can be followed needs none, and memory of buffers gets none.
; RUN: tag_pointers
; RUN(RESOLVED): tag_pointers resolve_checks
; RUN(BOUNDS): tag_pointers lower_arguments check_bounds
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @kernel(
; CHECK: store ptr addrspace(1) %y, ptr %kept
; CHECK: store ptr addrspace(1) %y, ptr addrspace(1) %x
; CHECK: [[GIVEN:%.*]] = getelementptr i8, ptr addrspace(1) %at, i64 281474976710656
; CHECK: [[ALSO:%.*]] = getelementptr i8, ptr addrspace(1) %again, i64 562949953421312
; CHECK: call void @put(ptr addrspace(1) [[GIVEN]], ptr addrspace(1) [[ALSO]], ptr %own)
; CHECK-LABEL: define internal void @put(
; CHECK-DAG: [[TO:%.*]] = call ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1) %to, i64 281474976710655)
; CHECK-DAG: [[OTHER:%.*]] = call ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1) %other, i64 281474976710655)
; CHECK: icmp eq ptr addrspace(1) [[TO]], [[OTHER]]

; RESOLVED-LABEL: define internal void @put(
; RESOLVED: [[BARE:%.*]] = call ptr addrspace(1) @llvm.ptrmask.p1.i64(ptr addrspace(1) %to, i64
; RESOLVED: [[ADDRESS:%.*]] = ptrtoint ptr addrspace(1) %to to i64
; RESOLVED: [[TAG:%.*]] = lshr i64 [[ADDRESS]], 48
; RESOLVED: [[SMALL:%.*]] = trunc i64 [[TAG]] to i32
; RESOLVED: [[NUMBER:%.*]] = sub i32 [[SMALL]], 1
; RESOLVED: call ptr addrspace(1) @metalloid.checked.access.p1(ptr addrspace(1) [[BARE]], ptr null, i64 0, i32 [[NUMBER]], i64 4,

; BOUNDS-LABEL: define internal void @put(
; BOUNDS: [[STATE:%.*]] = call ptr @metalloid_current_threadgroup()
; BOUNDS: [[TAG:%.*]] = lshr i64 %{{.*}}, 48
; BOUNDS: [[NUMBER:%.*]] = sub i64 [[TAG]], 1
; BOUNDS: [[KNOWN:%.*]] = icmp ult i64 [[NUMBER]], 3
; BOUNDS: [[BYTES:%.*]] = select i1 [[KNOWN]], i64 %{{.*}}, i64 -1
; BOUNDS: call void @metalloid_check_bounds(i64 %{{.*}}, i64 4, i64 [[BYTES]],

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %i) {
  %own = alloca i32, align 4
  %kept = alloca ptr addrspace(1), align 8
  store ptr addrspace(1) %y, ptr %kept, align 8
  store ptr addrspace(1) %y, ptr addrspace(1) %x, align 8
  %again = load ptr addrspace(1), ptr %kept, align 8
  %at = getelementptr i32, ptr addrspace(1) %x, i64 %i
  call void @put(ptr addrspace(1) %at, ptr addrspace(1) %again, ptr %own)
  ret void
}

define internal void @put(ptr addrspace(1) %to, ptr addrspace(1) %other, ptr %result) noinline {
  %place = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %to, i64 4, i64 0, i32 2)
  store i32 1, ptr addrspace(1) %to, align 4
  %same = icmp eq ptr addrspace(1) %to, %other
  %number = zext i1 %same to i32
  store i32 %number, ptr %result, align 4
  ret void
}
