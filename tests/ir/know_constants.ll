; Functions that stay calls know the constants that all their callers hand them.
; RUN: know_constants

@table = internal addrspace(2) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@other = internal addrspace(2) constant [4 x i32] [i32 5, i32 6, i32 7, i32 8]

%state = type { [4 x i32], ptr addrspace(2), ptr addrspace(2) }

; A member that holds one table only, in two variables and a copy, beside an array that a loop writes; the other one
; holds two tables.
; CHECK-LABEL: define internal i32 @round(
; CHECK-NOT: load ptr addrspace(2), ptr %one
; CHECK: %b = load ptr addrspace(2), ptr %two
; CHECK: %x = load i32, ptr addrspace(2) @table
; CHECK: call i32 @add({{.*}}%b
define internal i32 @round(ptr %s) noinline {
  %one = getelementptr i8, ptr %s, i64 16
  %a = load ptr addrspace(2), ptr %one
  %two = getelementptr i8, ptr %s, i64 24
  %b = load ptr addrspace(2), ptr %two
  %x = load i32, ptr addrspace(2) %a
  %y = call i32 @add(ptr addrspace(2) %a, ptr addrspace(2) %b, i32 3)
  %sum = add i32 %x, %y
  ret i32 %sum
}

; By parameters, of which nothing is left.
; CHECK-LABEL: define internal i32 @add(
; CHECK-SAME: ptr addrspace(2) %q)
; CHECK: load i32, ptr addrspace(2) @table
; CHECK: load i32, ptr addrspace(2) %q
; CHECK: shl i32 %x, 3
define internal i32 @add(ptr addrspace(2) %p, ptr addrspace(2) %q, i32 %bits) noinline {
  %x = load i32, ptr addrspace(2) %p
  %y = load i32, ptr addrspace(2) %q
  %more = shl i32 %x, %bits
  %sum = add i32 %more, %y
  ret i32 %sum
}

; A loop that counts to what nobody knows may write any member.
; CHECK-LABEL: define internal i32 @of_moving(
; CHECK: %a = load ptr addrspace(2), ptr %one
define internal i32 @of_moving(ptr %s) noinline {
  %one = getelementptr i8, ptr %s, i64 16
  %a = load ptr addrspace(2), ptr %one
  %x = load i32, ptr addrspace(2) %a
  ret i32 %x
}

; Others know the address.
; CHECK-LABEL: define internal i32 @of_known(
; CHECK: %a = load ptr addrspace(2), ptr %one
define internal i32 @of_known(ptr %s) noinline {
  %one = getelementptr i8, ptr %s, i64 16
  %a = load ptr addrspace(2), ptr %one
  %x = load i32, ptr addrspace(2) %a
  ret i32 %x
}

; CHECK-LABEL: define void @kernel(
define void @kernel(ptr addrspace(1) %out, i32 %n) {
entry:
  %s = alloca %state
  %t = alloca %state
  %moving = alloca %state
  %known = alloca %state
  %place = alloca ptr
  %s.one = getelementptr i8, ptr %s, i64 16
  store ptr addrspace(2) @table, ptr %s.one
  %s.two = getelementptr i8, ptr %s, i64 24
  store ptr addrspace(2) @table, ptr %s.two
  call void @llvm.memcpy.p0.p0.i64(ptr %t, ptr %s, i64 32, i1 false)
  %t.two = getelementptr i8, ptr %t, i64 24
  store ptr addrspace(2) @other, ptr %t.two
  %m.one = getelementptr i8, ptr %moving, i64 16
  store ptr addrspace(2) @table, ptr %m.one
  %k.one = getelementptr i8, ptr %known, i64 16
  store ptr addrspace(2) @table, ptr %k.one
  store ptr %known, ptr %place
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %element = getelementptr i32, ptr %s, i64 %i
  store i32 1, ptr %element
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 4
  br i1 %more, label %loop, label %second

second:
  %k = phi i32 [ 0, %loop ], [ %k.next, %second ]
  %k.far = zext i32 %k to i64
  %other.element = getelementptr i32, ptr %moving, i64 %k.far
  store i32 1, ptr %other.element
  %k.next = add i32 %k, 1
  %k.more = icmp ult i32 %k.next, %n
  br i1 %k.more, label %second, label %end

end:
  %a = call i32 @round(ptr %s)
  %b = call i32 @round(ptr %t)
  %c = call i32 @of_moving(ptr %moving)
  %d = call i32 @of_known(ptr %known)
  %e = load ptr, ptr %place
  %f = load i32, ptr %e
  %ab = add i32 %a, %b
  %cd = add i32 %c, %d
  %abcd = add i32 %ab, %cd
  %all = add i32 %abcd, %f
  store i32 %all, ptr addrspace(1) %out
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
