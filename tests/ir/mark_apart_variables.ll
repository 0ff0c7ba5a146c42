; Addresses that a thread keeps in its own variable are known, if it stored them there itself.
; RUN: mark_apart
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK: define void @kernel(ptr addrspace(1) noalias {{.*}}, ptr addrspace(1) noalias

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out) {
entry:
  %rows = alloca [2 x ptr addrspace(1)]
  %second = getelementptr inbounds [2 x ptr addrspace(1)], ptr %rows, i64 0, i64 1
  store ptr addrspace(1) %x, ptr %second
  %row = load ptr addrspace(1), ptr %second
  %value = load i32, ptr addrspace(1) %row
  store i32 %value, ptr addrspace(1) %out
  ret void
}
