; RUN: check_operations
; ERROR unsupported: metalloid.simd.sum.u128

declare i128 @metalloid.simd.sum.u128(i128)

define void @kernel(ptr addrspace(1) %out) {
  %x = call i128 @metalloid.simd.sum.u128(i128 1)
  store i128 %x, ptr addrspace(1) %out
  ret void
}
