; Rows stream earlier where threadgroups lie far from each other: with a distance that the kernel is given.
; RUN: stream_stores

; CHECK-LABEL: define void @kernel(
; CHECK: %near = getelementptr
; CHECK: getelementptr inbounds i8, ptr %state, i64 104
; CHECK: %far = getelementptr
; CHECK: [[FAR:%[0-9]+]] = getelementptr inbounds i8, ptr %state, i64 112
; CHECK: load i64, ptr [[FAR]]
; CHECK: %walk = getelementptr
; CHECK: getelementptr inbounds i8, ptr %state, i64 104
; CHECK: ret void

define void @kernel(ptr %state, i32 %first, <32 x float> %x) {
entry:
  %list = load ptr, ptr %state
  %out = load ptr addrspace(1), ptr %list
  %place1 = getelementptr i8, ptr %list, i64 8
  %pitch_place = load ptr addrspace(2), ptr %place1
  %pitch = load i32, ptr addrspace(2) %pitch_place
  %group_place = getelementptr i8, ptr %state, i64 52
  %groups = load <2 x i32>, ptr %group_place
  %group = extractelement <2 x i32> %groups, i64 0
  %threads_place = getelementptr i8, ptr %state, i64 40
  %threads = load i32, ptr %threads_place
  %begin = mul i32 %group, %threads
  %thread = add i32 %begin, %first
  %near = getelementptr float, ptr addrspace(1) %out, i32 %thread
  store <32 x float> %x, ptr addrspace(1) %near, align 1
  %row = mul i32 %thread, %pitch
  %far = getelementptr float, ptr addrspace(1) %out, i32 %row
  store <32 x float> %x, ptr addrspace(1) %far, align 1
  br label %loop

loop:
  %column = phi i32 [ 0, %entry ], [ %next, %loop ]
  %element = add i32 %row, %column
  %walk = getelementptr float, ptr addrspace(1) %out, i32 %element
  store <32 x float> %x, ptr addrspace(1) %walk, align 1
  %next = add i32 %column, 32
  %more = icmp ult i32 %next, %pitch
  br i1 %more, label %loop, label %end

end:
  ret void
}
