; RUN: check_operations
; ERROR unsupported: getpid

declare i32 @getpid()

define void @kernel(ptr addrspace(1) %out) {
  %x = call i32 @getpid()
  store i32 %x, ptr addrspace(1) %out
  ret void
}
