; Accesses go to the memory that an address comes from, wherever that is one.
; RUN: infer_address_spaces

; CHECK-LABEL: define void @kernel(
; CHECK: store float 1.0{{.*}}, ptr addrspace(1)
; CHECK: atomicrmw add ptr addrspace(1) %x, i32 1
; CHECK: store volatile i32 3, ptr addrspace(1) %x
; CHECK: cmpxchg ptr addrspace(1) %x
; CHECK: call void @llvm.memcpy.p1.p2.i64(
; CHECK: call void @one(ptr addrspace(1) %x)
; CHECK: call void @one(ptr addrspace(1) %{{.*}})
; CHECK: call void @both(ptr
; CHECK: call void @both(ptr
; CHECK: %[[STEP:.*]] = call ptr addrspace(3) @step(ptr addrspace(3) %t, i32 3)
; CHECK: store i32 5, ptr addrspace(3) %[[STEP]]
; CHECK: store i32 6, ptr %mixed
; CHECK: call void @of_thread(ptr %own)
; CHECK: store i32 %i, ptr addrspace(3)
; CHECK-DAG: define internal void @one(ptr addrspace(1) %p)
; CHECK-DAG: store i32 11, ptr addrspace(1) %p
; CHECK-DAG: define internal void @both(ptr %p)
; CHECK-DAG: store i32 12, ptr %p
; CHECK-DAG: define internal ptr addrspace(3) @step(ptr addrspace(3) %p, i32 %n)
; CHECK-DAG: define internal void @of_thread(ptr %p)
; CHECK-DAG: define internal void @by_address(ptr %p)

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y, ptr addrspace(2) %k, ptr addrspace(3) %t, i1 %c, i64 %n, ptr addrspace(1) %where) {
entry:
  %own = alloca i32
  %px = addrspacecast ptr addrspace(1) %x to ptr
  %py = addrspacecast ptr addrspace(1) %y to ptr
  %pk = addrspacecast ptr addrspace(2) %k to ptr
  %pt = addrspacecast ptr addrspace(3) %t to ptr
  %choice = select i1 %c, ptr %px, ptr %py
  %element = getelementptr float, ptr %choice, i64 %n
  store float 1.0, ptr %element
  %old = atomicrmw add ptr %px, i32 1 monotonic
  store volatile i32 3, ptr %px
  %pair = cmpxchg ptr %px, i32 0, i32 1 monotonic monotonic
  call void @llvm.memcpy.p0.p0.i64(ptr %px, ptr %pk, i64 64, i1 false)
  call void @one(ptr %px)
  call void @one(ptr %element)
  call void @both(ptr %px)
  call void @both(ptr %pt)
  %moved = call ptr @step(ptr %pt, i32 3)
  store i32 5, ptr %moved
  %mixed = select i1 %c, ptr %px, ptr %pt
  store i32 6, ptr %mixed
  call void @of_thread(ptr %own)
  call void @by_address(ptr %px)
  store ptr @by_address, ptr addrspace(1) %where
  br label %loop
loop:
  %p = phi ptr [ %pt, %entry ], [ %next, %loop ]
  %i = phi i32 [ 0, %entry ], [ %more, %loop ]
  store i32 %i, ptr %p
  %next = getelementptr i32, ptr %p, i64 1
  %more = add i32 %i, 1
  %done = icmp eq i32 %more, 9
  br i1 %done, label %end, label %loop
end:
  ret void
}

define internal void @one(ptr %p) noinline {
  store i32 11, ptr %p
  ret void
}

define internal void @both(ptr %p) noinline {
  store i32 12, ptr %p
  ret void
}

define internal ptr @step(ptr %p, i32 %n) noinline {
  %stop = icmp eq i32 %n, 0
  br i1 %stop, label %end, label %on
on:
  %next = getelementptr i32, ptr %p, i64 1
  %less = sub i32 %n, 1
  %r = call ptr @step(ptr %next, i32 %less)
  ret ptr %r
end:
  ret ptr %p
}

define internal void @of_thread(ptr %p) noinline {
  store i32 13, ptr %p
  ret void
}

define internal void @by_address(ptr %p) noinline {
  store i32 14, ptr %p
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
