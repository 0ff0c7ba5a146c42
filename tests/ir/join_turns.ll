; Threads that go along a row together do neighbours at once, as far as whole rounds of the threadgroup go, if all of
; that lies inside and is aligned.
; RUN: join_turns
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[THREAD:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK: [[PART:%.*]] = urem i32 %n, 2048
; CHECK: %limit = sub i32 %n, [[PART]]
; CHECK: mul nuw i32 [[THREAD]], 8
; CHECK: and i32 {{%.*}}, 15
; CHECK: and i32 {{%.*}}, 15
; CHECK: br i1 {{%.*}}, label %together, label %test
; CHECK: together:
; CHECK: load <8 x i16>, ptr addrspace(1) {{%.*}}, align 16
; CHECK-COUNT-8: mul i16 {{%.*}}, %scale
; CHECK: store <8 x i16> {{%.*}}, ptr addrspace(1) {{%.*}}, align 16
; CHECK: add nuw i32 {{%.*}}, 2048
; CHECK: icmp ult i32 {{%.*}}, %limit
; CHECK: br i1 {{%.*}}, label %together, label %rest, !llvm.loop [[SHORT:![0-9]+]]
; CHECK: rest:
; CHECK: [[BEHIND:%.*]] = add i32 %limit, [[THREAD]]
; CHECK: br i1 {{%.*}}, label %test, label %end
; CHECK: phi i32 [ [[THREAD]], {{.*}} ], [ {{%.*}}, %turn ], [ [[BEHIND]], %rest ]
; CHECK: call void @metalloid_check_bounds
; CHECK: [[SHORT]] = distinct !{[[SHORT]], [[AT_ONCE:![0-9]+]]}
; CHECK: [[AT_ONCE]] = !{!"llvm.loop.unroll.count", i32 4}

define void @kernel(i32 %n, i16 %scale, i64 %bytes) {
entry:
  %out = call ptr addrspace(1) @metalloid_argument.1(i32 0)
  %in = call ptr addrspace(1) @metalloid_argument.1(i32 1)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %test

test:
  %column = phi i32 [ %thread, %entry ], [ %next, %turn ]
  %more = icmp ult i32 %column, %n
  br i1 %more, label %turn, label %end

turn:
  %wide = zext i32 %column to i64
  %offset = mul i64 %wide, 2
  call void @metalloid_check_bounds(i64 %offset, i64 2, i64 %bytes, ptr null, ptr null, ptr null, ptr null)
  %from = getelementptr i16, ptr addrspace(1) %in, i64 %wide
  %number = load i16, ptr addrspace(1) %from, !invariant.load !0
  %scaled = mul i16 %number, %scale
  %to = getelementptr i16, ptr addrspace(1) %out, i64 %wide
  store i16 %scaled, ptr addrspace(1) %to
  %next = add i32 %column, 256
  br label %test

end:
  ret void
}

declare ptr addrspace(1) @metalloid_argument.1(i32) memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @metalloid_check_bounds(i64, i64, i64, ptr, ptr, ptr, ptr)
!0 = !{}
