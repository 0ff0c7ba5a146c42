; The number of an address belongs to its space: what is made of one stays in the space for which it is made.
; RUN: infer_address_spaces

; CHECK-LABEL: define void @kernel(
; CHECK: %number = ptrtoint ptr addrspace(3) %t to i64
; CHECK: %of.number = inttoptr i64 %number to ptr
; CHECK: store i32 1, ptr %of.number
; CHECK: store i32 2, ptr addrspace(1) %x
; CHECK: store i32 3, ptr addrspace(3) %t

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %t) {
  %number = ptrtoint ptr addrspace(3) %t to i64
  %of.number = inttoptr i64 %number to ptr
  store i32 1, ptr %of.number
  %plain = addrspacecast ptr addrspace(1) %x to ptr
  store i32 2, ptr %plain
  %there = addrspacecast ptr addrspace(3) %t to ptr
  %back = addrspacecast ptr %there to ptr addrspace(3)
  store i32 3, ptr addrspace(3) %back
  ret void
}
