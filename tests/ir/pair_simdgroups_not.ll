; Simdgroups that would part late, whose loops write, or that have nothing in common, stay alone.
; RUN: lower_arguments_of_a_lane place_lanes pair_simdgroups
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-NOT: define void @pair

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
entry:
  %simdgroup = lshr i32 %position, 5
  %lane = and i32 %position, 31
  %n = zext i32 %simdgroup to i64
  %lengths = getelementptr i32, ptr addrspace(1) %out, i64 %n
  %size = load i32, ptr addrspace(1) %lengths, align 4
  br label %body

body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi float [ 0.0, %entry ], [ %more, %body ]
  %mine = add i32 %i, %lane
  %wide = zext i32 %mine to i64
  %place = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %x = load float, ptr addrspace(1) %place, align 4
  %more = fadd float %sum, %x
  %next = add i32 %i, 32
  %stays = icmp ult i32 %next, %size
  br i1 %stays, label %body, label %behind

behind:
  %to = getelementptr float, ptr addrspace(1) %out, i64 %n
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}
