; Whole rows go past the caches also in a program that calls itself in another form, for other threads.
; RUN: stream_stores_of_forms
; RUN(UNKNOWN): stream_stores

; CHECK-LABEL: define void @kernel(
; CHECK: store <32 x float> %x, ptr addrspace(1) %one, align 64{{.*}}!nontemporal

; UNKNOWN-NOT: !nontemporal

define void @kernel(ptr %state, i32 %first, <32 x float> %x) {
  %list = load ptr, ptr %state
  %place1 = getelementptr i8, ptr %list, i64 8
  %one = load ptr addrspace(1), ptr %place1
  store <32 x float> %x, ptr addrspace(1) %one, align 1
  call void @metalloid_run_thread(ptr %state, i32 32)
  ret void
}

define internal void @metalloid_run_thread(ptr %state, i32 %first) {
  ret void
}
