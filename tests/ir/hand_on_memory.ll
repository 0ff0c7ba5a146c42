; What a function reads and writes by the address of its caller's variable comes in registers and goes back in them, where
; it surely comes to it or all callers have a variable there, and nothing else leads it there.
; RUN: hand_on_structures
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: call { float, float, float } @add(float {{.*}}, float {{.*}})
; CHECK: call { float } @perhaps(float {{.*}}, i1 {{.*}}, float {{.*}})
; CHECK: call void @somewhere(ptr
; CHECK: call void @both(ptr {{.*}}, ptr
; CHECK: call { { float }, float } @halves(float {{.*}}, float {{.*}})
; CHECK: call void @overlapping(ptr {{.*}}, ptr
; CHECK-LABEL: define internal void @somewhere(ptr %to
; CHECK-LABEL: define internal void @both(ptr %a, ptr %b
; CHECK-LABEL: define internal { float } @perhaps(float %{{.*}}, i1 %{{.*}}, float %{{.*}})
; CHECK-NOT: load
; CHECK: ret { float }
; CHECK-LABEL: define internal { float, float, float } @add(float %{{.*}}, float %{{.*}})
; CHECK-NOT: load
; CHECK: ret { float, float, float }

define void @kernel(ptr addrspace(1) %out, i1 %is) {
entry:
  %a = alloca [4 x float]
  %b = alloca [4 x float]
  %place = load i64, ptr addrspace(1) %out
  %own = getelementptr float, ptr %a, i64 %place
  store float 1.0, ptr %own
  %same = call float @add(ptr %own, float 2.0)
  store float %same, ptr %b
  %sum = load float, ptr %own
  call void @perhaps(ptr %b, float %sum, i1 %is)
  call void @somewhere(ptr %own, float %sum, i1 %is)
  call void @both(ptr %b, ptr %b)
  %half = getelementptr i8, ptr %b, i64 8
  call void @halves(ptr %b, ptr %half)
  call void @overlapping(ptr %b, ptr %half)
  %other = load float, ptr %b
  store float %other, ptr addrspace(1) %out
  ret void
}

define internal float @add(ptr %sum, float returned %x) noinline {
entry:
  %old = load float, ptr %sum
  %new = fadd float %old, %x
  store float %new, ptr %sum
  %next = getelementptr i8, ptr %sum, i64 4
  store float %old, ptr %next
  ret float %x
}

define internal void @perhaps(ptr %to, float %x, i1 %is) noinline {
entry:
  br i1 %is, label %yes, label %no
yes:
  store float %x, ptr %to
  ret void
no:
  ret void
}

define internal void @somewhere(ptr %to, float %x, i1 %is) noinline {
entry:
  br i1 %is, label %yes, label %no
yes:
  store float %x, ptr %to
  ret void
no:
  ret void
}

define internal void @both(ptr %a, ptr %b) noinline {
entry:
  store float 3.0, ptr %a
  %x = load float, ptr %b
  %y = fadd float %x, 1.0
  store float %y, ptr %a
  ret void
}

define internal void @halves(ptr %a, ptr %b) noinline {
entry:
  %x = load float, ptr %a
  %y = load float, ptr %b
  %z = fadd float %x, %y
  store float %z, ptr %a
  %next = getelementptr i8, ptr %b, i64 4
  store float %z, ptr %next
  ret void
}

define internal void @overlapping(ptr %a, ptr %b) noinline {
entry:
  %next = getelementptr i8, ptr %a, i64 8
  %x = load float, ptr %next
  %y = load float, ptr %b
  %z = fadd float %x, %y
  store float %z, ptr %next
  store float %z, ptr %b
  ret void
}
