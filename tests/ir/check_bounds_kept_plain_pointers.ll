; How far a plain pointer that a thread kept is from its root is told by numbers of one space, that of the plain one.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @metalloid_lane(
; CHECK: [[NUMBER:%.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK-NEXT: [[OFFSET:%.*]] = sub i64 [[NUMBER]], ptrtoint (ptr addrspacecast (ptr addrspace(3) @tile to ptr) to i64)
; CHECK: call void @metalloid_check_bounds(i64 [[OFFSET]], i64 4, i64 256,
; CHECK: ret void

@tile = internal addrspace(3) global [64 x i32] undef

define void @kernel(i64 %i) {
  %kept = alloca ptr, align 8
  %element = getelementptr i32, ptr addrspace(3) @tile, i64 %i
  %plain = addrspacecast ptr addrspace(3) %element to ptr
  store ptr %plain, ptr %kept, align 8
  %p = load ptr, ptr %kept, align 8
  store i32 1, ptr %p, align 4
  ret void
}
