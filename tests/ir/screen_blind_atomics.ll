; Atomic sums at which nobody looks, atomic stores, and atomic operations in threadgroup memory are no exchange between
; threadgroups.
; RUN: screen_checks
; ARGUMENT: buffer
; ARGUMENT: threadgroup

; CHECK: @metalloid_screened_roots = constant [3 x [4 x i32]] {{\[}}[4 x i32] [i32 0, i32 2, i32 2, i32 1], [4 x i32] [i32 65536, i32 2, i32 0, i32 1], [4 x i32] [i32 -1, i32 4, i32 0, i32 0]]

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)
declare ptr addrspace(3) @metalloid.check.access.p3(ptr addrspace(3), i64, i64, i32)

define void @kernel(ptr addrspace(1) %count, ptr addrspace(3) %local) {
  %place = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %count, i64 4, i64 0, i32 519)
  %unused = atomicrmw add ptr addrspace(1) %place, i32 1 monotonic
  %again = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %count, i64 4, i64 0, i32 518)
  store atomic i32 0, ptr addrspace(1) %again monotonic, align 4
  %near = call ptr addrspace(3) @metalloid.check.access.p3(ptr addrspace(3) %local, i64 4, i64 0, i32 519)
  %ticket = atomicrmw add ptr addrspace(3) %near, i32 1 monotonic
  %i = zext i32 %ticket to i64
  %own = getelementptr i32, ptr addrspace(1) %count, i64 %i
  %checked = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %own, i64 4, i64 0, i32 514)
  store i32 1, ptr addrspace(1) %checked, align 4
  ret void
}
