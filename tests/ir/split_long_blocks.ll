; A long block becomes several, and its variables stay in the first.
; RUN: split_long_blocks

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK: %d = alloca i32
; CHECK-NEXT: br label %[[SECOND:.*]]
; CHECK: [[SECOND]]:
; CHECK-COUNT-3: store
; CHECK-NEXT: br label %[[LAST:.*]]
; CHECK: [[LAST]]:
; CHECK-COUNT-4: load
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out) {
entry:
  %a = alloca i32
  %b = alloca i32
  %c = alloca i32
  %d = alloca i32
  store i32 1, ptr %a
  store i32 2, ptr %b
  store i32 3, ptr %c
  %0 = load i32, ptr %a
  %1 = load i32, ptr %b
  %2 = load i32, ptr %c
  %3 = load i32, ptr %d
  store i32 %3, ptr addrspace(1) %out
  ret void
}
