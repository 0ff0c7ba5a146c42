; Where functions that stay calls have threadgroup barriers, threads come to all barriers for themselves, whatever others
; of their simdgroup do. Operations across lanes in front have their masks.
; RUN: explicit_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_simdgroup

; CHECK-LABEL: define void @kernel(
; CHECK: [[PRESENT:%.*]] = call i32 @metalloid.lanes.present()
; CHECK: call i32 @metalloid.masked.simd.max.u32(i32 [[PRESENT]], i32 %lane)
; CHECK: call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
; CHECK: call void @exchange(i32 %lane)
; CHECK: call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
; CHECK-NOT: turn_end
; CHECK-LABEL: define internal void @exchange(i32 %n)
; CHECK: call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
; CHECK-NOT: turn_end

declare i32 @metalloid.simd.max.u32(i32) convergent
declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent
declare void @metalloid.turn_end() convergent

define void @kernel(ptr addrspace(1) %out, i32 %lane) convergent {
  %most = call i32 @metalloid.simd.max.u32(i32 %lane)
  store i32 %most, ptr addrspace(1) %out
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  %c = icmp ult i32 %lane, 5
  br i1 %c, label %arm, label %all
arm:
  call void @exchange(i32 %lane) convergent
  br label %all
all:
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  call void @metalloid.turn_end()
  ret void
}

define internal void @exchange(i32 %n) convergent noinline {
  call void @metalloid.threadgroup_barrier(i32 2, i32 0, i32 1)
  call void @metalloid.turn_end()
  %is_last = icmp eq i32 %n, 0
  br i1 %is_last, label %last, label %deeper
last:
  ret void
deeper:
  %less = sub i32 %n, 1
  call void @exchange(i32 %less) convergent
  ret void
}
