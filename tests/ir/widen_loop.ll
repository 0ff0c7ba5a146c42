; A loop that lanes leave in different turns goes on while one is left; the others keep what they left with.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK: loop.i:
; CHECK: [[STOP:%.*]] = icmp eq <32 x i32>
; CHECK: body.i.check:
; CHECK: br i1 {{.*}}, label %body.i, label
; CHECK: [[LEFT:%.*]] = icmp ne i32 {{.*}}, 0
; CHECK: br i1 [[LEFT]], label %loop.i, label
; CHECK: select <32 x i1>
; CHECK: kernel.exit:
; CHECK: store <32 x i32> {{.*}}, ptr addrspace(1)
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %position) {
entry:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  %turns = load i32, ptr addrspace(1) %place
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %stop = icmp eq i32 %k, %turns
  br i1 %stop, label %left, label %body
body:
  %more = add i32 %sum, %k
  %next = add i32 %k, 1
  %far = icmp ugt i32 %more, 100
  br i1 %far, label %left, label %loop
left:
  %result = phi i32 [ %sum, %loop ], [ %more, %body ]
  store i32 %result, ptr addrspace(1) %place
  ret void
}
