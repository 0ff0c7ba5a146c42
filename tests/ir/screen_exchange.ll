; What atomic operations find in device memory may depend on which threadgroup came first: the table's last entry says
; that somebody looks at it.
; RUN: screen_checks
; ARGUMENT: buffer

; CHECK: @metalloid_screened_roots = constant [2 x [4 x i32]] {{\[}}[4 x i32] [i32 0, i32 2, i32 2, i32 1], [4 x i32] [i32 -1, i32 4, i32 0, i32 2]]

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)

define void @kernel(ptr addrspace(1) %count) {
  %place = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %count, i64 4, i64 0, i32 519)
  %ticket = atomicrmw add ptr addrspace(1) %place, i32 1 monotonic
  %i = zext i32 %ticket to i64
  %own = getelementptr i32, ptr addrspace(1) %count, i64 %i
  %checked = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %own, i64 4, i64 0, i32 514)
  store i32 1, ptr addrspace(1) %checked, align 4
  ret void
}
