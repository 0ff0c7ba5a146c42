; Reads of constant memory never change, unless they are volatile.
; RUN: mark_constants

; CHECK-LABEL: define void @kernel(
; CHECK: load i32, ptr addrspace(2) %size{{.*}}!invariant.load
; CHECK: load volatile i32, ptr addrspace(2) %watched, align 4{{$}}
; CHECK: load i32, ptr addrspace(1) %other, align 4{{$}}

define void @kernel(ptr addrspace(1) %x, ptr addrspace(2) dereferenceable(4) %size, ptr addrspace(2) %watched, ptr addrspace(1) %other) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %n = load i32, ptr addrspace(2) %size, align 4
  %w = load volatile i32, ptr addrspace(2) %watched, align 4
  %o = load i32, ptr addrspace(1) %other, align 4
  %sum = add i32 %w, %o
  %at = getelementptr i32, ptr addrspace(1) %x, i32 %i
  store i32 %sum, ptr addrspace(1) %at, align 4
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}
