; Code that reads a constant without a value is no kernel.
; RUN: fold_function_constants simplify require_function_constants
; CONSTANT: needed
; ERROR invalid_argument: needs a value for function constant 'needed' (index 0) of type int

@needed = external addrspace(2) constant i32

define void @kernel(ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(2) @needed
  store i32 %x, ptr addrspace(1) %out
  ret void
}
