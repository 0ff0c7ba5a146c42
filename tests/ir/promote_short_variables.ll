; Variables of several writes that are written before they are read become values. One that may be read before that stays.
; RUN: promote_short_variables

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: %set = alloca
; CHECK: %unknown = alloca
; CHECK: end:
; CHECK: [[SET:%.*]] = phi i1 [ %a, %in ], [ false, %start ]
; CHECK: select i1 [[SET]]
; CHECK: load i1, ptr %unknown
; CHECK: loop:
; CHECK: [[TURN:%.*]] = phi i1
; CHECK: select i1 [[TURN]], i32 3, i32 4

define void @kernel(ptr %p, i1 %a, i1 %b) {
entry:
  %set = alloca i1
  %unknown = alloca i1
  %carried = alloca i1
  store i1 false, ptr %set
  store i1 false, ptr %carried
  br i1 %b, label %start, label %exit

start:
  br i1 %a, label %in, label %end

in:
  store i1 %a, ptr %set
  store i1 %a, ptr %unknown
  br label %end

end:
  %now = load i1, ptr %set
  %number = select i1 %now, i32 1, i32 2
  store i32 %number, ptr %p
  %maybe = load i1, ptr %unknown
  store i1 %b, ptr %unknown
  %other = select i1 %maybe, i32 5, i32 6
  store i32 %other, ptr %p
  br label %loop

loop:
  %turn = load i1, ptr %carried
  %which = select i1 %turn, i32 3, i32 4
  store i32 %which, ptr %p
  store i1 true, ptr %carried
  br i1 %turn, label %exit, label %loop

exit:
  ret void
}
