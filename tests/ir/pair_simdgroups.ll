; A product of a matrix with a vector: two simdgroups read the vector once. They part where one of them has no row. What
; they write comes one after the other.
; RUN: lower_arguments_of_a_lane place_lanes pair_simdgroups
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_threadgroup

; CHECK-LABEL: define void @pair(ptr {{.*}}, i32 %1, i32 %2, i32 %3, i32 %4, i32 %5, i32 %6, i32 %7, i32 %8, ptr %9)
; CHECK: [[FIRST:%.*]] = lshr i32 %{{.*}}, 5
; CHECK: [[SECOND:%.*]] = lshr i32 %{{.*}}, 5
; CHECK: header.i:
; CHECK: [[SUM:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %end.i ]
; CHECK: [[SUM2:%.*]] = phi float [ 0.000000e+00, %entry ], [ {{.*}}, %end.i ]
; CHECK: body.i:
; CHECK: %x.i = load float,
; CHECK-NOT: load float
; CHECK: [[HAS:%.*]] = icmp ult i32 [[FIRST]],
; CHECK: [[HAS2:%.*]] = icmp ult i32 [[SECOND]],
; CHECK: [[PART:%.*]] = icmp ne i1 [[HAS]], [[HAS2]]
; CHECK-NEXT: br i1 [[PART]], label %failed, label %together
; CHECK: together:
; CHECK-NEXT: br i1 [[HAS]], label %row.i, label %end.i
; CHECK: row.i:
; CHECK: load float,
; CHECK-NEXT: load float,
; CHECK: tail.first:
; CHECK: store float [[SUM]],
; CHECK-NEXT: br label %tail.second
; CHECK: tail.second:
; CHECK: store float [[SUM2]],
; CHECK-NEXT: ret void
; CHECK: failed:
; CHECK-NEXT: store i8 1, ptr %9
; CHECK-NEXT: ret void

define void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %position) {
entry:
  %size = load i32, ptr addrspace(1) %out, align 4
  %simdgroup = lshr i32 %position, 5
  %lane = and i32 %position, 31
  br label %header

header:
  %i = phi i32 [ %lane, %entry ], [ %next, %end ]
  %sum = phi float [ 0.0, %entry ], [ %more, %end ]
  %stays = icmp ult i32 %i, %size
  br i1 %stays, label %body, label %behind

body:
  %wide = zext i32 %i to i64
  %place = getelementptr float, ptr addrspace(1) %in, i64 %wide
  %x = load float, ptr addrspace(1) %place, align 4
  %prepared = fmul float %x, 2.0
  %has.row = icmp ult i32 %simdgroup, %size
  br i1 %has.row, label %row, label %end

row:
  %begin = mul i32 %simdgroup, %size
  %index = add i32 %begin, %i
  %far = zext i32 %index to i64
  %there = getelementptr float, ptr addrspace(1) %in, i64 %far
  %weight = load float, ptr addrspace(1) %there, align 4
  %product = fmul float %weight, %prepared
  %longer = fadd float %sum, %product
  br label %end

end:
  %more = phi float [ %sum, %body ], [ %longer, %row ]
  %next = add i32 %i, 32
  br label %header

behind:
  %n = zext i32 %simdgroup to i64
  %to = getelementptr float, ptr addrspace(1) %out, i64 %n
  store float %sum, ptr addrspace(1) %to, align 4
  ret void
}
