; A thread leaves what it brings on the board and returns; another function goes on behind the meeting.
; RUN: lower_arguments lower_meetings retarget split_at_meetings
; ARGUMENT: buffer

; CHECK-LABEL: define void @metalloid_run_thread(
; CHECK-NOT: call i64 @metalloid_cross_lane
; CHECK: store {{.*}}@metalloid_sites
; CHECK: ret void
; CHECK: define internal {{.*}}@metalloid_run_thread.resume(
; CHECK: load i64
; CHECK: store i32 %{{.*}}, ptr addrspace(1)
; CHECK: ret void

declare i32 @metalloid.simd.sum.u32(i32) convergent nounwind memory(inaccessiblemem: readwrite)

define void @kernel(ptr addrspace(1) %out) convergent {
  %x = load i32, ptr addrspace(1) %out
  %s = call i32 @metalloid.simd.sum.u32(i32 %x) convergent
  %t = add i32 %s, %x
  store i32 %t, ptr addrspace(1) %out
  ret void
}
