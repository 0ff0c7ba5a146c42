; RUN: refuse_unsupported
; ARGUMENT: texture
; ERROR unsupported: kernel 'kernel' has a texture argument, 'argument0'

define void @kernel(ptr %image) {
  ret void
}
