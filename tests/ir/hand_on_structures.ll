; Structures come and go in registers, element by element; who changes the one that it was handed changes a copy.
; RUN: hand_on_structures
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[SUM:%.*]] = call %Pair @add(i32 3, i32 {{.*}}, i32 {{.*}})
; CHECK: extractvalue %Pair [[SUM]], 0
; CHECK-LABEL: define internal %Pair @add(i32 %more, i32 %{{.*}}, i32 %{{.*}})
; CHECK-NOT: load
; CHECK: ret %Pair

%Pair = type { i32, i32 }

define void @kernel(ptr addrspace(1) %out) {
entry:
  %a = alloca %Pair
  %r = alloca %Pair
  %second = getelementptr i8, ptr %a, i64 4
  store i32 1, ptr %a
  store i32 2, ptr %second
  call void @add(ptr sret(%Pair) %r, ptr byval(%Pair) %a, i32 3)
  %first = load i32, ptr %r
  store i32 %first, ptr addrspace(1) %out
  ret void
}

define internal void @add(ptr sret(%Pair) %result, ptr byval(%Pair) %a, i32 %more) noinline {
entry:
  %second = getelementptr i8, ptr %a, i64 4
  %x = load i32, ptr %a
  %y = load i32, ptr %second
  %sum = add i32 %x, %more
  store i32 %sum, ptr %a
  %changed = load i32, ptr %a
  %result.second = getelementptr i8, ptr %result, i64 4
  store i32 %changed, ptr %result
  store i32 %y, ptr %result.second
  ret void
}
