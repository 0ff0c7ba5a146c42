; The way around a barrier says so, with the barrier's number; a way that only returns does not.
; RUN: mark_ways_around

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %early, label %end, label %on
; CHECK: br i1 %some, label %inside, label %[[AROUND:.*]]
; CHECK: [[AROUND]]:
; CHECK-NEXT: call void @metalloid.check.meeting(i32 7, i32 65536, i32 0)
; CHECK: inside:
; CHECK-NEXT: call void @metalloid.check.meeting(i32 0, i32 65538, i32 0)

declare void @metalloid.check.meeting(i32, i32, i32)
declare void @metalloid.check.end()

define void @kernel(ptr addrspace(1) %x, i1 %early, i1 %some) {
  br i1 %early, label %end, label %on

on:
  br i1 %some, label %inside, label %behind

inside:
  call void @metalloid.check.meeting(i32 0, i32 2, i32 0)
  br label %behind

behind:
  store i32 1, ptr addrspace(1) %x, align 4
  br label %end

end:
  call void @metalloid.check.end()
  ret void
}
