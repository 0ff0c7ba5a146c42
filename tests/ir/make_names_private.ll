; A source's own function that is called like one of the C library is not taken for it; other names stay.
; RUN: make_names_private

; CHECK-NOT: @sinf(
; CHECK: define internal float @[[SINF:.+sinf]](float
; CHECK: define internal float @helper(float
; CHECK: define void @kernel(
; CHECK: call float @[[SINF]](float
; CHECK: call float @helper(float
; CHECK-NOT: @sinf(

define float @sinf(float %x) {
  %y = fadd float %x, 1.0
  ret float %y
}

define float @helper(float %x) {
  %y = fmul float %x, 2.0
  ret float %y
}

define void @kernel(ptr addrspace(1) %out) {
  %a = call float @sinf(float 0.0)
  %b = call float @helper(float %a)
  store float %b, ptr addrspace(1) %out
  ret void
}
