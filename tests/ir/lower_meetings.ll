; Operations become calls that name their site. Sites are in the order of the code, and all of a loop stands before what
; follows it, wherever its blocks lie.
; RUN: lower_arguments lower_meetings
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_threadgroup

; CHECK: @metalloid_sites = internal constant [12 x i8]
; CHECK-LABEL: define void @metalloid_run_thread(
; CHECK-NOT: metalloid.simd
; CHECK: call void @metalloid_barrier(ptr %0, ptr @metalloid_sites)
; CHECK: [[BITS:%.*]] = bitcast float %{{.*}} to i32
; CHECK: [[WIDE:%.*]] = zext i32 [[BITS]] to i64
; CHECK: [[RESULT:%.*]] = call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 4), i64 [[WIDE]], i32 0)
; CHECK: [[NARROW:%.*]] = trunc i64 [[RESULT]] to i32
; CHECK: bitcast i32 [[NARROW]] to float
; CHECK: call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 8), i64 1, i32 3)

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare float @metalloid.simd.sum.f32(float) convergent nounwind memory(inaccessiblemem: readwrite)
declare i32 @metalloid.simd.shuffle.b32(i32, i32) convergent nounwind memory(inaccessiblemem: readwrite)

define void @kernel(ptr addrspace(1) %out, i32 %i) convergent {
entry:
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1) convergent
  br label %loop
after:
  %b = call i32 @metalloid.simd.shuffle.b32(i32 1, i32 3) convergent
  store i32 %b, ptr addrspace(1) %out
  ret void
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = uitofp i32 %k to float
  %s = call float @metalloid.simd.sum.f32(float %x) convergent
  store float %s, ptr addrspace(1) %out
  %next = add i32 %k, 1
  %end = icmp ugt i32 %next, %i
  br i1 %end, label %after, label %loop
}
