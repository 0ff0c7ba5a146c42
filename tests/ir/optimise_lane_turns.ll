; Each of up to 128 threads takes four turns to copy 512 elements: the loop is unrolled.
; RUN: lower_arguments_of_a_lane optimise_lane
; ARGUMENT: buffer
; ARGUMENT: thread_index_in_threadgroup

; CHECK-LABEL: define {{.*}}@metalloid_lane(
; CHECK-COUNT-2: store i32 7,
; CHECK-NOT: br i1
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %thread) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %thread, %entry ], [ %next, %loop ]
  %wide = zext i32 %i to i64
  %place = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 7, ptr addrspace(1) %place
  %next = add i32 %i, 1024
  %again = icmp ult i32 %next, 2048
  br i1 %again, label %loop, label %end
end:
  ret void
}
