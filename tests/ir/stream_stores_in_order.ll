; Writes that a fence orders stay as they are.
; RUN: stream_stores

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: !nontemporal
; CHECK: ret void

define void @kernel(ptr %state, i32 %first, <32 x float> %x) {
  %list = load ptr, ptr %state
  %zero = load ptr addrspace(1), ptr %list
  store <32 x float> %x, ptr addrspace(1) %zero, align 1
  fence release
  ret void
}
