; What turns out to be a plain place inside of a thread's own variable needs no question; a computed index does.
; RUN: drop_private_checks

; CHECK-LABEL: define i32 @kernel(
; CHECK-NOT: call ptr @metalloid.check.access.p0(ptr %own,
; CHECK: call ptr @metalloid.check.access.p0(ptr %any,

declare ptr @metalloid.check.access.p0(ptr, i64, i64, i32)

define i32 @kernel(i64 %i) {
  %own = alloca [4 x i32], align 4
  %where = alloca ptr, align 8
  store ptr %own, ptr %where, align 8
  %known = load ptr, ptr %where, align 8
  %checked = call ptr @metalloid.check.access.p0(ptr %known, i64 4, i64 0, i32 2)
  store i32 1, ptr %checked, align 4
  %any = getelementptr i32, ptr %own, i64 %i
  %place = call ptr @metalloid.check.access.p0(ptr %any, i64 4, i64 0, i32 1)
  %value = load i32, ptr %place, align 4
  ret i32 %value
}
