; A switch around a few instructions chooses between what they make, and between what shifts of the same words are by.
; RUN: optimise_lane

; CHECK-LABEL: define {{.*}}@kernel(
; CHECK-NOT: switch
; CHECK-NOT: phi
; CHECK: [[BY:%.*]] = select i1 {{.*}}, i32 8, i32
; CHECK: call i32 @llvm.fshr.i32(i32 %x, i32 %y, i32 [[BY]])
; CHECK-NOT: call
; CHECK-COUNT-3: select i1
; CHECK: ret void

define void @kernel(ptr addrspace(1) %out, i32 %n) {
entry:
  %x = load i32, ptr addrspace(1) %out
  %next = getelementptr i8, ptr addrspace(1) %out, i64 4
  %y = load i32, ptr addrspace(1) %next
  switch i32 %n, label %none [
    i32 0, label %end
    i32 1, label %one
    i32 2, label %two
    i32 3, label %three
  ]
one:
  %1 = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 24)
  %add = add i32 %x, 5
  br label %end
two:
  %2 = call i32 @llvm.fshr.i32(i32 %x, i32 %y, i32 16)
  br label %end
three:
  %3 = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 8)
  br label %end
none:
  unreachable
end:
  %word = phi i32 [ %y, %entry ], [ %1, %one ], [ %2, %two ], [ %3, %three ]
  %other = phi i32 [ %y, %entry ], [ %add, %one ], [ %n, %two ], [ %x, %three ]
  store i32 %word, ptr addrspace(1) %out
  store i32 %other, ptr addrspace(1) %next
  ret void
}

declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
