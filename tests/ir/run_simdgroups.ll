; One simdgroup after the other, by how its threads lie in rows; with barriers, each when it is its turn.
; RUN: run_simdgroups
; RUN(STOPS): run_simdgroups_that_stop
; RUN(SIXTEEN): run_simdgroups_of_16

; CHECK: define internal void @metalloid_run_thread(ptr [[STATE:%.*]], i32 [[FIRST:%.*]])
; CHECK-NOT: @row
; CHECK: call void @half_rows(ptr [[STATE]], i32 [[FIRST]])
; CHECK: call void @column(ptr [[STATE]], i32 [[FIRST]])
; CHECK: [[COUNT:%.*]] = call i32 @llvm.umin.i32(i32 {{.*}}, i32 32)
; CHECK: call void @anywhere(ptr [[STATE]], i32 [[FIRST]], i32 [[COUNT]])
; CHECK: define void @metalloid_run_threadgroup(ptr
; CHECK: [[ALONE:%.*]] = icmp eq i32 {{.*}}, 1
; CHECK: br i1 [[ALONE]], label %alone, label %more
; CHECK: [[NOW:%.*]] = phi i32 [ 0, %more ], [ [[NEXT:%.*]], %rows ]
; CHECK: [[X:%.*]] = phi i32
; CHECK: [[NEXT]] = add i32 [[NOW]], 32
; CHECK: call void @code_of_row(i32 [[NOW]], i32 [[X]])
; CHECK: [[OTHER:%.*]] = phi i32 [ 0, %more ], [ [[NEXT]], %rows ], [ [[NEXT_OTHER:%.*]], %other ]
; CHECK: call void @metalloid_run_thread(ptr {{.*}}, i32 [[OTHER]])
; CHECK: [[NEXT_OTHER]] = add i32 [[OTHER]], 32
; CHECK: call void @alone(ptr {{.*}}, i32 0)
; CHECK-NEXT: ret void

; SIXTEEN: call i32 @llvm.umin.i32(i32 {{.*}}, i32 16)
; SIXTEEN: [[NOW:%.*]] = phi i32 [ 0, %more ], [ [[NEXT:%.*]], %rows ]
; SIXTEEN: [[NEXT]] = add i32 [[NOW]], 16

; STOPS: define void @metalloid_run_thread(ptr [[STATE:%.*]], i32 [[FIRST:%.*]])
; STOPS: call void @alone(ptr [[STATE]], i32 [[FIRST]])
; STOPS-NEXT: ret void
; STOPS: [[X:%.*]] = urem i32 [[FIRST]],
; STOPS: call void @row(ptr [[STATE]], i32 [[FIRST]], i32 [[X]], i32 {{.*}}, i32 {{.*}})
; STOPS-NOT: @metalloid_run_threadgroup

define void @kernel() {
  call void @row(ptr null, i32 0, i32 0, i32 0, i32 0)
  call void @half_rows(ptr null, i32 0)
  call void @column(ptr null, i32 0)
  call void @alone(ptr null, i32 0)
  call void @anywhere(ptr null, i32 0, i32 0)
  ret void
}

declare void @code_of_row(i32, i32)

define internal void @row(ptr %state, i32 %first, i32 %x, i32 %y, i32 %z) {
  call void @code_of_row(i32 %first, i32 %x)
  ret void
}

define internal void @half_rows(ptr %state, i32 %first) {
  ret void
}

define internal void @column(ptr %state, i32 %first) {
  ret void
}

define internal void @alone(ptr %state, i32 %first) {
  ret void
}

define internal void @anywhere(ptr %state, i32 %first, i32 %count) {
  ret void
}
