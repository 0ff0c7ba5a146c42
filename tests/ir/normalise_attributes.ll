; Attributes and promises of C++ that Metal does not make.
; RUN: normalise_attributes

; CHECK: declare void @metalloid.threadgroup_barrier(i32, i32, i32) #[[BARRIER:[0-9]+]]
; CHECK: declare i32 @metalloid.simd.sum.u32(i32) #[[SUM:[0-9]+]]
; CHECK: declare i32 @metalloid.thread_index() #[[INDEX:[0-9]+]]
; CHECK: define void @kernel({{.*}} #[[KERNEL:[0-9]+]]
; CHECK: call i32 @metalloid.simd.sum.u32(i32 %i){{$}}
; CHECK-NOT: annotation
; CHECK: store i32 %s, ptr %variable
; CHECK: load i32, ptr %variable
; CHECK: %bool = load i8, ptr addrspace(1) %out, align 1, !metalloid.bool
; CHECK: %byte = load i8, ptr addrspace(1) %out, align 1{{$}}
; CHECK: attributes #[[BARRIER]] = { convergent nounwind memory(readwrite) }
; CHECK: attributes #[[SUM]] = { convergent nounwind memory(inaccessiblemem: readwrite) }
; CHECK: attributes #[[INDEX]] = { nounwind willreturn memory(none) }
; CHECK: attributes #[[KERNEL]] = {
; CHECK-NOT: optnone
; CHECK-NOT: mustprogress
; CHECK-NOT: target-cpu
; CHECK-SAME: null_pointer_is_valid
; CHECK-NOT: llvm.loop.mustprogress

declare void @metalloid.threadgroup_barrier(i32, i32, i32) readnone
declare i32 @metalloid.simd.sum.u32(i32) willreturn memory(none)
declare i32 @metalloid.thread_index()

define void @kernel(ptr addrspace(1) %out) #0 {
  %i = call i32 @metalloid.thread_index()
  %s = call i32 @metalloid.simd.sum.u32(i32 %i) #1
  %variable = alloca i32
  call void @llvm.var.annotation.p0.p0(ptr %variable, ptr @note, ptr @note, i32 1, ptr null)
  store i32 %s, ptr %variable
  %member = call ptr @llvm.ptr.annotation.p0.p0(ptr %variable, ptr @note, ptr @note, i32 1, ptr null)
  %value = load i32, ptr %member
  store i32 %value, ptr addrspace(1) %out
  %bool = load i8, ptr addrspace(1) %out, !range !2
  %loaded = trunc i8 %bool to i1
  %stored = zext i1 %loaded to i8
  %place = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i8 %stored, ptr addrspace(1) %place
  %byte = load i8, ptr addrspace(1) %out
  %loaded.2 = trunc i8 %byte to i1
  %stored.2 = zext i1 %loaded.2 to i8
  store i8 %stored.2, ptr addrspace(1) %out
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1)
  br label %loop
loop:
  br label %loop, !llvm.loop !0
}

@note = private constant [5 x i8] c"note\00", section "llvm.metadata"

attributes #0 = { noinline optnone mustprogress "target-cpu"="x86-64" }
attributes #1 = { memory(none) willreturn }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{i8 0, i8 2}
