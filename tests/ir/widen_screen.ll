; The checker's questions for all lanes at once: of one place, of a row, of places anywhere; whether something holds.
; RUN: screen_checks lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: call void @metalloid_screen_one(ptr %0, i32 %1, i32 -1, ptr {{.*}}, i32 0, i64 4, i32 513)
; CHECK: load i32
; CHECK: call void @metalloid_screen_row(ptr %0, i32 %1, i32 -1, ptr {{.*}}, i32 0, i64 4, i32 514)
; CHECK: store <32 x i32>
; CHECK: call void @metalloid_screen_lanes(ptr %0, i32 %1, i32 -1, ptr {{.*}}, i32 0, i64 4, i32 514)
; CHECK: br i1 {{.*}}, label %suspect, label %holds
; CHECK: call void @metalloid_screen_end(ptr %0, i32 %1, i32 -1)

declare ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1), i64, i64, i32)
declare void @metalloid.check.expect(i1, i32, ptr)
declare void @metalloid.check.end()

define void @kernel(ptr addrspace(1) %x, i32 %position) {
  %first = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %x, i64 4, i64 0, i32 513)
  %value = load i32, ptr addrspace(1) %first, align 4
  %i = zext i32 %position to i64
  %row = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %own = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %row, i64 4, i64 0, i32 514)
  store i32 %value, ptr addrspace(1) %own, align 4
  %square = mul i64 %i, %i
  %anywhere = getelementptr i32, ptr addrspace(1) %x, i64 %square
  %there = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %anywhere, i64 4, i64 0, i32 514)
  store i32 %value, ptr addrspace(1) %there, align 4
  %holds = icmp ne i32 %position, 7
  call void @metalloid.check.expect(i1 %holds, i32 3, ptr null)
  call void @metalloid.check.end()
  ret void
}
