; Loops whose turns are a thread's own: it reads what it wrote without a barrier, a turn reads what one before wrote,
; ends are the thread's.
; RUN: join_turns
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: together:

define void @kernel(i32 %n) {
entry:
  %out = call ptr addrspace(1) @metalloid_argument.1(i32 0)
  %between = call ptr addrspace(1) @metalloid_argument.1(i32 1)
  %rows = call ptr addrspace(1) @metalloid_argument.1(i32 2)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %test

test:
  %column = phi i32 [ %thread, %entry ], [ %next, %turn ]
  %more = icmp ult i32 %column, %n
  br i1 %more, label %turn, label %end

turn:
  %wide = zext i32 %column to i64
  %to = getelementptr i16, ptr addrspace(1) %between, i64 %wide
  store i16 7, ptr addrspace(1) %to
  %next = add i32 %column, 256
  br label %test

end:
  br label %test.second

test.second:
  %second = phi i32 [ %thread, %end ], [ %next.second, %turn.second ]
  %more.second = icmp ult i32 %second, %n
  br i1 %more.second, label %turn.second, label %end.second

turn.second:
  %wide.second = zext i32 %second to i64
  %from = getelementptr i16, ptr addrspace(1) %between, i64 %wide.second
  %number = load i16, ptr addrspace(1) %from
  %to.second = getelementptr i16, ptr addrspace(1) %out, i64 %wide.second
  store i16 %number, ptr addrspace(1) %to.second
  %next.second = add i32 %second, 256
  br label %test.second

end.second:
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  br label %test.down

test.down:
  %down = phi i32 [ %thread, %end.second ], [ %next.down, %turn.down ]
  %more.down = icmp ult i32 %down, %n
  br i1 %more.down, label %turn.down, label %end.down

turn.down:
  %wide.down = zext i32 %down to i64
  %above = getelementptr i16, ptr addrspace(1) %rows, i64 %wide.down
  %kept = load i16, ptr addrspace(1) %above
  %below = getelementptr i8, ptr addrspace(1) %above, i64 512
  store i16 %kept, ptr addrspace(1) %below
  %next.down = add i32 %down, 256
  br label %test.down

end.down:
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %own = and i32 %thread, 1
  %end.own = mul i32 %own, %n
  br label %test.own

test.own:
  %last = phi i32 [ %thread, %end.down ], [ %next.last, %turn.own ]
  %more.last = icmp ult i32 %last, %end.own
  br i1 %more.last, label %turn.own, label %end.own.loop

turn.own:
  %wide.last = zext i32 %last to i64
  %to.last = getelementptr i16, ptr addrspace(1) %out, i64 %wide.last
  store i16 1, ptr addrspace(1) %to.last
  %next.last = add i32 %last, 256
  br label %test.own

end.own.loop:
  ret void
}

declare ptr addrspace(1) @metalloid_argument.1(i32) memory(none)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
