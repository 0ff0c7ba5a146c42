; Relaxed atomic operations on device memory without users become reductions, four floats in a row one where they are
; aligned; what is asked for, ordered, of other memory or of another scope stays.
; RUN: forget_results
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[PLACE:%.*]] = ptrtoint ptr addrspace(1) %x to i64
; CHECK: [[REST:%.*]] = and i64 [[PLACE]], 15
; CHECK: [[ALIGNED:%.*]] = icmp eq i64 [[REST]], 0
; CHECK: br i1 [[ALIGNED]]
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"(ptr addrspace(1) %x, float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 4.000000e+00)
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}"(ptr addrspace(1) %x, float 1.000000e+00)
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}"(ptr addrspace(1) %d, float 4.000000e+00)
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.add.f32 [$0], $1;", "l,f,~{memory}"(ptr addrspace(1) %d, float 5.000000e+00)
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.min.s64 [$0], $1;", "l,l,~{memory}"(ptr addrspace(1) %x, i64 7)
; CHECK: call void asm sideeffect "red.relaxed.gpu.global.or.b32 [$0], $1;", "l,r,~{memory}"(ptr addrspace(1) %x, i32 8)
; CHECK: atomicrmw add ptr addrspace(1) %x, i32 1 syncscope("device") monotonic
; CHECK: atomicrmw add ptr addrspace(1) %x, i32 2 syncscope("device") acq_rel
; CHECK: atomicrmw add ptr addrspace(3) %local, i32 3 syncscope("device") monotonic
; CHECK: atomicrmw add ptr addrspace(1) %x, i32 4 monotonic

define void @kernel(ptr addrspace(1) %x, ptr addrspace(3) %local) {
entry:
  %a = getelementptr float, ptr addrspace(1) %x, i64 1
  %b = getelementptr float, ptr addrspace(1) %x, i64 2
  %d = getelementptr float, ptr addrspace(1) %a, i64 2
  %1 = atomicrmw fadd ptr addrspace(1) %x, float 1.0 syncscope("device") monotonic
  %2 = atomicrmw fadd ptr addrspace(1) %a, float 2.0 syncscope("device") monotonic
  %3 = atomicrmw fadd ptr addrspace(1) %b, float 3.0 syncscope("device") monotonic
  %4 = atomicrmw fadd ptr addrspace(1) %d, float 4.0 syncscope("device") monotonic
  %5 = atomicrmw fadd ptr addrspace(1) %d, float 5.0 syncscope("device") monotonic
  %6 = atomicrmw min ptr addrspace(1) %x, i64 7 syncscope("device") monotonic
  %7 = atomicrmw or ptr addrspace(1) %x, i32 8 syncscope("device") monotonic
  %8 = atomicrmw add ptr addrspace(1) %x, i32 1 syncscope("device") monotonic
  %9 = atomicrmw add ptr addrspace(1) %x, i32 2 syncscope("device") acq_rel
  %10 = atomicrmw add ptr addrspace(3) %local, i32 3 syncscope("device") monotonic
  %11 = atomicrmw add ptr addrspace(1) %x, i32 4 monotonic
  store i32 %8, ptr addrspace(1) %x
  ret void
}
