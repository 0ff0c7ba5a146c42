; NaNs that stay what they are, or numbers that are rounded otherwise.
; RUN: round_bfloats
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: fptrunc

define void @kernel(ptr addrspace(1) %out, i32 %y) {
  %magnitude = and i32 %y, 2147483647
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %upper = lshr i32 %y, 16
  %odd = and i32 %upper, 1
  %more = add i32 %odd, 32768
  %rounded = add i32 %y, %more
  %quiet = or i32 %y, 4194304
  %chosen = select i1 %is.nan, i32 %quiet, i32 %rounded
  %float = and i32 %chosen, -65536
  store i32 %float, ptr addrspace(1) %out
  %right = add i32 %odd, 32767
  %nearest = add i32 %y, %right
  %plain = select i1 %is.nan, i32 %y, i32 %nearest
  %lower = lshr i32 %plain, 16
  store i32 %lower, ptr addrspace(1) %out
  ret void
}
