; Numbers of 16 bits that lie together are read as words, and taken out by masks and shifts of whole words.
; RUN: read_words
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[WORD:%.*]] = load i32, ptr addrspace(1) %x, align 4, !invariant.load
; CHECK: [[HIGH:%.*]] = lshr i32 [[WORD]], 16
; CHECK: load i16, ptr addrspace(1) %odd, align 2
; CHECK: and i32 [[WORD]], 15
; CHECK: and i32 [[HIGH]], 240

define void @kernel(ptr addrspace(1) align 4 %x, ptr addrspace(1) %out) {
  %next = getelementptr i8, ptr addrspace(1) %x, i64 2
  %odd = getelementptr i8, ptr addrspace(1) %x, i64 10
  %a = load i16, ptr addrspace(1) %x, align 4, !invariant.load !0
  %b = load i16, ptr addrspace(1) %next, align 2, !invariant.load !0
  %c = load i16, ptr addrspace(1) %odd, align 2, !invariant.load !0
  %a.wide = zext i16 %a to i32
  %b.wide = zext i16 %b to i32
  %c.wide = zext i16 %c to i32
  %a.part = and i32 %a.wide, 15
  %b.part = and i32 %b.wide, 240
  %sum = add i32 %a.part, %b.part
  %sum.2 = add i32 %sum, %c.wide
  store i32 %sum.2, ptr addrspace(1) %out
  ret void
}

!0 = !{}
