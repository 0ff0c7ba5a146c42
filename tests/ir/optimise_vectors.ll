; A lane that takes no part reads a place that is always there: an address is chosen, and no branch made of it.
; RUN: optimise_vectors

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: br
; CHECK: [[PLACE:%.*]] = select i1 %takes.part, ptr %place, ptr
; CHECK-NEXT: load i64, ptr [[PLACE]]
; CHECK-NOT: br
; CHECK: ret void

define void @kernel(ptr %place, ptr %result, i1 %takes.part) {
  %safe = alloca i64
  %chosen = select i1 %takes.part, ptr %place, ptr %safe
  %word = load i64, ptr %chosen
  %word.known = freeze i64 %word
  store i64 %word.known, ptr %result
  ret void
}
