; Reads of whole elements of constant tables say how large their numbers are.
; RUN: mark_tables

; CHECK-LABEL: define void @kernel(
; CHECK: load i32, ptr addrspace(2) %element, align 4, !range ![[LARGEST:[0-9]+]]
; CHECK: load i32, ptr addrspace(2) %of.rows, align 4, !range ![[OF_ROWS:[0-9]+]]
; CHECK: load i32, ptr addrspace(2) @zeros, align 4, !range ![[ONE:[0-9]+]]
; CHECK: load i32, ptr addrspace(2) %between, align 4{{$}}
; CHECK: load i64, ptr addrspace(2) %element, align 8{{$}}
; CHECK: load i32, ptr addrspace(2) @negative, align 4{{$}}
; CHECK: load i32, ptr addrspace(2) @mixed, align 4{{$}}
; CHECK: load volatile i32, ptr addrspace(2) %element, align 4{{$}}
; CHECK-DAG: ![[LARGEST]] = !{i32 0, i32 125}
; CHECK-DAG: ![[OF_ROWS]] = !{i32 0, i32 8}
; CHECK-DAG: ![[ONE]] = !{i32 0, i32 1}

@sbox = internal addrspace(2) constant [4 x i32] [i32 99, i32 124, i32 0, i32 7]
@rows = internal addrspace(2) constant [2 x [2 x i32]] [[2 x i32] [i32 1, i32 7], [2 x i32] zeroinitializer]
@zeros = internal addrspace(2) constant [4 x i32] zeroinitializer
@negative = internal addrspace(2) constant [2 x i32] [i32 -1, i32 7]
@mixed = internal addrspace(2) constant { i32, float } { i32 1, float 2.0 }

define void @kernel(ptr addrspace(1) %x, i64 %i, i64 %bytes) {
  %element = getelementptr i32, ptr addrspace(2) @sbox, i64 %i
  %a = load i32, ptr addrspace(2) %element, align 4
  %of.rows = getelementptr [2 x [2 x i32]], ptr addrspace(2) @rows, i64 0, i64 %i, i64 1
  %b = load i32, ptr addrspace(2) %of.rows, align 4
  %c = load i32, ptr addrspace(2) @zeros, align 4
  %between = getelementptr i8, ptr addrspace(2) @sbox, i64 %bytes
  %d = load i32, ptr addrspace(2) %between, align 4
  %e = load i64, ptr addrspace(2) %element, align 8
  %f = load i32, ptr addrspace(2) @negative, align 4
  %g = load i32, ptr addrspace(2) @mixed, align 4
  %h = load volatile i32, ptr addrspace(2) %element, align 4
  %ab = add i32 %a, %b
  %cd = add i32 %c, %d
  %fg = add i32 %f, %g
  %abcd = add i32 %ab, %cd
  %fgh = add i32 %fg, %h
  %all = add i32 %abcd, %fgh
  store i32 %all, ptr addrspace(1) %x
  %next = getelementptr i64, ptr addrspace(1) %x, i64 1
  store i64 %e, ptr addrspace(1) %next
  ret void
}
