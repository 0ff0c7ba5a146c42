; The byte of a bool that is only copied is copied. What was a number before counts by its lowest bit, as a bool that is
; more than copied does.
; RUN: copy_bools

; CHECK-LABEL: define void @kernel(
; CHECK: %bool = load i8, ptr addrspace(1) %out, align 1{{$}}
; CHECK: store i8 %bool, ptr addrspace(1) %place
; CHECK: store i8 %number, ptr addrspace(1) %out
; CHECK: store i32 %word, ptr addrspace(1) %out

define void @kernel(ptr addrspace(1) %out) {
  %bool = load i8, ptr addrspace(1) %out, !metalloid.bool !0
  %bit = trunc i8 %bool to i1
  %stored = zext i1 %bit to i8
  %place = getelementptr i8, ptr addrspace(1) %out, i64 4
  store i8 %stored, ptr addrspace(1) %place
  %byte = load i8, ptr addrspace(1) %out
  %lowest = trunc i8 %byte to i1
  %number = zext i1 %lowest to i8
  store i8 %number, ptr addrspace(1) %out
  %word = zext i1 %bit to i32
  store i32 %word, ptr addrspace(1) %out
  ret void
}

!0 = !{}
