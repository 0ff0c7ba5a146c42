; Whole rows go past the caches if their argument streams and they begin a line; what is read, narrow or has gaps not.
; RUN: stream_stores

; CHECK-LABEL: define void @kernel(
; CHECK: [[STREAMS:%[0-9]+]] = load i64, ptr
; CHECK: [[PLACE:%.*]] = ptrtoint ptr addrspace(1) %row to i64
; CHECK: [[AT:%.*]] = and i64 [[PLACE]], 63
; CHECK: [[BEGINS:%.*]] = icmp eq i64 [[AT]], 0
; CHECK: [[OWN:%.*]] = and i64 [[STREAMS]], 2
; CHECK: [[WANTED:%.*]] = icmp ne i64 [[OWN]], 0
; CHECK: [[BOTH:%.*]] = and i1 [[WANTED]], [[BEGINS]]
; CHECK: br i1 [[BOTH]],
; CHECK: store <32 x float> %x, ptr addrspace(1) %row, align 64{{.*}}!nontemporal
; CHECK: store <32 x float> %x, ptr addrspace(1) %row, align 1{{$}}
; CHECK: icmp eq i32 %{{.*}}, -1
; CHECK: store <32 x float> %x, ptr addrspace(1) %row2, align 64{{.*}}!nontemporal
; CHECK: call void @llvm.masked.store.v32f32.p1(<32 x float> %x, ptr addrspace(1) align 1 %row2, <32 x i1> %mask)
; CHECK-NOT: !nontemporal
; CHECK: ret void

define void @kernel(ptr %state, i32 %first, <32 x float> %x, <32 x i1> %mask, i64 %n) {
  %list = load ptr, ptr %state
  %zero = load ptr addrspace(1), ptr %list
  %place1 = getelementptr i8, ptr %list, i64 8
  %one = load ptr addrspace(1), ptr %place1
  %y = load float, ptr addrspace(1) %zero
  %row = getelementptr float, ptr addrspace(1) %one, i64 %n
  store <32 x float> %x, ptr addrspace(1) %row, align 1
  %row2 = getelementptr i8, ptr addrspace(1) %row, i64 512
  call void @llvm.masked.store.v32f32.p1(<32 x float> %x, ptr addrspace(1) align 1 %row2, <32 x i1> %mask)
  %gaps = getelementptr i8, ptr addrspace(1) %row, i64 1024
  call void @llvm.masked.store.v4f32.p1(<4 x float> zeroinitializer, ptr addrspace(1) align 1 %gaps, <4 x i1> <i1 1, i1 0, i1 1, i1 0>)
  store float %y, ptr addrspace(1) %row
  %read = getelementptr float, ptr addrspace(1) %zero, i64 %n
  store <32 x float> %x, ptr addrspace(1) %read, align 1
  ret void
}

declare void @llvm.masked.store.v32f32.p1(<32 x float>, ptr addrspace(1), <32 x i1>)
declare void @llvm.masked.store.v4f32.p1(<4 x float>, ptr addrspace(1), <4 x i1>)
