; Pointers that a thread keeps in an array: beside it stands of which argument each one is. Where all are of one argument,
; nothing has to be kept.
; RUN: lower_arguments_of_a_lane check_bounds_of_a_lane
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define void @metalloid_lane(
; CHECK-NOT: %of_one{{.*}}.roots = alloca
; CHECK: [[ROOTS:%of_two.*roots.*]] = alloca [2 x i32]
; CHECK: store i32 [[X:[0-9]+]], ptr [[ROOTS]]
; CHECK: [[SECOND:%.*]] = getelementptr i32, ptr [[ROOTS]], i64 1
; CHECK-NEXT: store i32 [[Y:[0-9]+]], ptr [[SECOND]]
; CHECK: %root = load i32, ptr
; CHECK: [[IS_Y:%.*]] = icmp eq i32 %root, [[Y]]
; CHECK: [[BYTES:%.*]] = select i1 [[IS_Y]], i64
; CHECK: call void @metalloid_check_bounds(i64 {{.*}}, i64 4, i64 [[BYTES]],
; CHECK: ret void

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %i) {
  %of_one = alloca [2 x ptr addrspace(1)], align 8
  %of_two = alloca [2 x ptr addrspace(1)], align 8
  store ptr addrspace(1) %x, ptr %of_one, align 8
  %one.next = getelementptr i8, ptr %of_one, i64 8
  %x.next = getelementptr i8, ptr addrspace(1) %x, i64 64
  store ptr addrspace(1) %x.next, ptr %one.next, align 8
  store ptr addrspace(1) %x, ptr %of_two, align 8
  %two.next = getelementptr i8, ptr %of_two, i64 8
  store ptr addrspace(1) %y, ptr %two.next, align 8
  %one.place = getelementptr ptr addrspace(1), ptr %of_one, i64 %i
  %one = load ptr addrspace(1), ptr %one.place, align 8
  %value = load i32, ptr addrspace(1) %one, align 4
  %two.place = getelementptr ptr addrspace(1), ptr %of_two, i64 %i
  %two = load ptr addrspace(1), ptr %two.place, align 8
  store i32 %value, ptr addrspace(1) %two, align 4
  ret void
}
