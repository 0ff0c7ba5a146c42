; Operations become calls that name their site and bring up to three words. Sites are in the order of the code, and all of a loop stands before what
; follows it, wherever its blocks lie.
; RUN: lower_arguments lower_meetings
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_threadgroup

; CHECK: @metalloid_sites = internal constant [20 x i8]
; CHECK-LABEL: define void @metalloid_run_thread(
; CHECK-NOT: metalloid.simd
; CHECK: call void @metalloid_barrier(ptr %0, ptr @metalloid_sites)
; CHECK: [[BITS:%.*]] = bitcast float %{{.*}} to i32
; CHECK: [[WIDE:%.*]] = zext i32 [[BITS]] to i64
; CHECK: [[RESULT:%.*]] = call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 4), i64 [[WIDE]], i64 poison, i64 poison)
; CHECK: [[NARROW:%.*]] = trunc i64 [[RESULT]] to i32
; CHECK: bitcast i32 [[NARROW]] to float
; CHECK: call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 8), i64 1, i64 3, i64 poison)
; CHECK: [[A:%.*]] = zext i32 %{{.*}} to i64
; CHECK: [[B:%.*]] = bitcast <2 x float> %{{.*}} to i64
; CHECK: [[D:%.*]] = call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 12), i64 [[A]], i64 [[B]], i64 0)
; CHECK: bitcast i64 [[D]] to <2 x float>
; CHECK: call i64 @metalloid_cross_lane(ptr %0, ptr getelementptr (i8, ptr @metalloid_sites, i64 16), i64 %{{.*}}, i64 poison, i64 poison)
; CHECK: bitcast i32 %{{.*}} to <2 x i16>

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare float @metalloid.simd.sum.f32(float) convergent nounwind memory(inaccessiblemem: readwrite)
declare i32 @metalloid.simd.shuffle.b32(i32, i32) convergent nounwind memory(inaccessiblemem: readwrite)
declare <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f16.f32(<2 x half>, <2 x float>, <2 x float>) convergent
declare <2 x i16> @metalloid.simdgroup_matrix.transpose.bf16(<2 x i16>) convergent

define void @kernel(ptr addrspace(1) %out, i32 %i) convergent {
entry:
  call void @metalloid.threadgroup_barrier(i32 2, i32 4, i32 1) convergent
  br label %loop
after:
  %b = call i32 @metalloid.simd.shuffle.b32(i32 1, i32 3) convergent
  store i32 %b, ptr addrspace(1) %out
  %l = load <2 x half>, ptr addrspace(1) %out
  %r = load <2 x float>, ptr addrspace(1) %out
  %d = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f16.f32(<2 x half> %l, <2 x float> %r, <2 x float> zeroinitializer) convergent
  store <2 x float> %d, ptr addrspace(1) %out
  %m = load <2 x i16>, ptr addrspace(1) %out
  %t = call <2 x i16> @metalloid.simdgroup_matrix.transpose.bf16(<2 x i16> %m) convergent
  store <2 x i16> %t, ptr addrspace(1) %out
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
