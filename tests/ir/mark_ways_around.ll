; Branches say whether they lead around a barrier, with the barrier's number; one to a way that only returns does not.
; That of a loop says so in the loop.
; RUN: mark_ways_around

; CHECK-LABEL: define void @kernel(
; CHECK: br i1 %early, label %end, label %on
; CHECK: [[NOT:%.*]] = xor i1 %some, true
; CHECK-NEXT: [[GOES:%.*]] = zext i1 [[NOT]] to i32
; CHECK-NEXT: call void @metalloid.check.meeting(i32 7, i32 131072, i32 [[GOES]])
; CHECK-NEXT: br i1 %some, label %inside, label %behind
; CHECK: inside:
; CHECK-NEXT: call void @metalloid.check.meeting(i32 0, i32 131074, i32 0)
; CHECK: loop:
; CHECK-NEXT: call void @metalloid.check.meeting(i32 0, i32 65538, i32 0)
; CHECK-NEXT: [[LEAVES:%.*]] = zext i1 %some to i32
; CHECK-NEXT: call void @metalloid.check.meeting(i32 7, i32 65536, i32 [[LEAVES]])
; CHECK-NEXT: br i1 %some, label %last, label %loop

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
  br label %loop

loop:
  call void @metalloid.check.meeting(i32 0, i32 2, i32 0)
  br i1 %some, label %last, label %loop

last:
  store i32 2, ptr addrspace(1) %x, align 4
  br label %end

end:
  call void @metalloid.check.end()
  ret void
}
