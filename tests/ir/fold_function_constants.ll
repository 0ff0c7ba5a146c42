; Values reach the code and what is computed from them, and branches that they decide are gone. A constant without a
; value stays a declaration, and is not defined.
; RUN: fold_function_constants simplify
; CONSTANT: mode 2
; CONSTANT: unset

; CHECK-NOT: @llvm.global_ctors
; CHECK-LABEL: define void @kernel(
; CHECK-NOT: br
; CHECK: store i32 2007,
; CHECK: store i32 111,
; CHECK-NEXT: ret void

@mode = external addrspace(2) constant i32
@unset = external addrspace(2) constant i32
@scaled = internal addrspace(2) global i32 0
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr addrspace(2) }] [{ i32, ptr, ptr addrspace(2) } { i32 65535, ptr @compute, ptr addrspace(2) @scaled }]

declare i1 @metalloid.function_constant.defined(ptr addrspace(2))

define internal void @compute() {
  %mode = load i32, ptr addrspace(2) @mode
  %thousands = mul i32 %mode, 1000
  %sum = add i32 %thousands, 7
  store i32 %sum, ptr addrspace(2) @scaled
  ret void
}

define void @kernel(ptr addrspace(1) %out) {
  %scaled = load i32, ptr addrspace(2) @scaled
  store i32 %scaled, ptr addrspace(1) %out
  %defined = call i1 @metalloid.function_constant.defined(ptr addrspace(2) @unset)
  %next = getelementptr i32, ptr addrspace(1) %out, i64 1
  br i1 %defined, label %then, label %else
then:
  %unset = load i32, ptr addrspace(2) @unset
  store i32 %unset, ptr addrspace(1) %next
  ret void
else:
  store i32 111, ptr addrspace(1) %next
  ret void
}
