; Where two ways of a branch that all lanes take alike meet, a row on both is a row; so is what a condition that all lanes
; share selects. Of a branch that lanes take by themselves it is none.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: load <32 x float>, ptr addrspace(1)
; CHECK: load <32 x float>, ptr addrspace(1)
; CHECK: call <32 x float> @llvm.masked.gather
; CHECK: ret void

define void @kernel(ptr addrspace(1) %in, i32 %position) {
entry:
  %number = load i32, ptr addrspace(1) %in, align 4
  %i = zext i32 %position to i64
  %row = getelementptr float, ptr addrspace(1) %in, i64 %i
  %is.zero = icmp eq i32 %number, 0
  br i1 %is.zero, label %meet, label %other

other:
  %wide = zext i32 %number to i64
  %further = getelementptr float, ptr addrspace(1) %row, i64 %wide
  br label %meet

meet:
  %place = phi ptr addrspace(1) [ %row, %entry ], [ %further, %other ]
  %x = load float, ptr addrspace(1) %place, align 4
  %behind = getelementptr i8, ptr addrspace(1) %place, i64 128
  %chosen = select i1 %is.zero, ptr addrspace(1) %behind, ptr addrspace(1) %row
  %y = load float, ptr addrspace(1) %chosen, align 4
  %is.less = fcmp olt float %x, %y
  br i1 %is.less, label %less, label %end

less:
  %far = getelementptr i8, ptr addrspace(1) %row, i64 256
  br label %end

end:
  %any = phi ptr addrspace(1) [ %row, %meet ], [ %far, %less ]
  %z = load float, ptr addrspace(1) %any, align 4
  %sum = fadd float %y, %z
  store float %sum, ptr addrspace(1) %row, align 4
  ret void
}
