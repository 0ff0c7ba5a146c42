; Accesses of which nobody knows whether they are aligned have one question in front of them all: as they are, or in pieces
; that are aligned for sure.
; RUN: align_accesses
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[ALIGNED:%.*]] = icmp eq i32 {{.*}}, 0
; CHECK-NEXT: br i1 [[ALIGNED]], label %[[WHOLE:.*]], label %[[PIECES:.*]], !prof
; CHECK: [[WHOLE]]:
; CHECK: [[V:%.*]] = load i64, ptr addrspace(1) %p, align 8
; CHECK: [[W:%.*]] = load i64, ptr addrspace(1) %q, align 8
; CHECK: br label %[[BEHIND:.*]]
; CHECK: [[BEHIND]]:
; CHECK-DAG: phi i64 [ [[V]], %[[WHOLE]] ], [ {{.*}}, %[[PIECES]] ]
; CHECK-DAG: phi i64 [ [[W]], %[[WHOLE]] ], [ {{.*}}, %[[PIECES]] ]
; CHECK: store i64 {{.*}}, ptr addrspace(1) %out, align 8
; CHECK: [[PIECES]]:
; CHECK-COUNT-8: load i16, ptr addrspace(1) {{.*}}, align 2

define void @kernel(ptr addrspace(1) align 8 %x, ptr addrspace(1) align 8 %out) {
entry:
  %n = load i64, ptr addrspace(1) %out, align 8
  %offset = mul i64 %n, 2
  %p = getelementptr i8, ptr addrspace(1) %x, i64 %offset
  %q = getelementptr i8, ptr addrspace(1) %p, i64 1024
  %v = load i64, ptr addrspace(1) %p, align 8
  %w = load i64, ptr addrspace(1) %q, align 8
  %sum = add i64 %v, %w
  store i64 %sum, ptr addrspace(1) %out, align 8
  ret void
}
