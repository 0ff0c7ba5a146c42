; A call of a function without a body is refused, unless constants make it impossible.
; RUN: fold_function_constants refuse_unsupported
; CONSTANT: wanted 0

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: @_Z4readv

@wanted = external addrspace(2) constant i32

declare float @_Z4readv()

define internal float @maybe(i1 %really) {
  br i1 %really, label %then, label %else
then:
  %x = call float @_Z4readv()
  ret float %x
else:
  ret float 1.0
}

define void @kernel(ptr addrspace(1) %out) {
  %wanted = load i32, ptr addrspace(2) @wanted
  %really = icmp ne i32 %wanted, 0
  %x = call float @maybe(i1 %really)
  store float %x, ptr addrspace(1) %out
  ret void
}
