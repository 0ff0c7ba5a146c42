; Two simdgroups at a time where two are left; one by one if the two cannot run together.
; RUN: run_simdgroups

; CHECK: define void @metalloid_run_threadgroup(ptr
; CHECK: [[FAILS:%.*]] = alloca i8
; CHECK: [[NOW:%.*]] = phi i32 [ 0, %{{.*}} ], [ [[BEHIND:%.*]], %row.end ]
; CHECK: [[NEXT:%.*]] = add i32 [[NOW]], 32
; CHECK: [[TWO:%.*]] = icmp ult i32 [[NEXT]],
; CHECK-NEXT: br i1 [[TWO]], label %two, label %one
; CHECK: two:
; CHECK-NEXT: store i8 0, ptr [[FAILS]]
; CHECK-NEXT: call void @code_of_pair(i32 [[NOW]], i32 [[NEXT]], ptr [[FAILS]])
; CHECK: [[FURTHER:%.*]] = add i32 [[NEXT]], 32
; CHECK: [[FAILED:%.*]] = load i8, ptr [[FAILS]]
; CHECK: br i1 {{.*}}, label %one, label %row.end
; CHECK: one:
; CHECK-NEXT: call void @code_of_row(i32 [[NOW]])
; CHECK: row.end:
; CHECK-NEXT: [[BEHIND]] = phi i32 [ [[FURTHER]], %two ], [ [[NEXT]], %one ]
; CHECK: icmp ult i32 [[BEHIND]],

define void @kernel() {
  call void @row(ptr null, i32 0, i32 0, i32 0, i32 0)
  call void @pair(ptr null, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, ptr null)
  call void @anywhere(ptr null, i32 0, i32 0)
  ret void
}

declare void @code_of_row(i32)
declare void @code_of_pair(i32, i32, ptr)

define internal void @row(ptr %state, i32 %first, i32 %x, i32 %y, i32 %z) {
  call void @code_of_row(i32 %first)
  ret void
}

define internal void @pair(ptr %state, i32 %first, i32 %x, i32 %y, i32 %z, i32 %first.2, i32 %x.2, i32 %y.2, i32 %z.2, ptr %fails) {
  call void @code_of_pair(i32 %first, i32 %first.2, ptr %fails)
  ret void
}

define internal void @anywhere(ptr %state, i32 %first, i32 %count) {
  ret void
}
