; Operations on tiles become calls of code for GPUs, which comes with them: sizes and how warpgroups divide the product
; are constants there.
; RUN: lower_tiles
; ARGUMENT: buffer
; ARGUMENT: buffer
; ARGUMENT: buffer

; Two warpgroups above each other read less from threadgroup memory than two beside each other. There are 4 stages.
; CHECK-LABEL: define void @kernel(
; CHECK: [[A:%.*]] = ptrtoint ptr addrspace(1) %a to i64
; CHECK: [[B:%.*]] = ptrtoint ptr addrspace(1) %b to i64
; CHECK: [[C:%.*]] = ptrtoint ptr addrspace(1) %c to i64
; CHECK: call void @metalloid_multiply_tiles(i64 [[A]], i64 8192, i64 128, i64 1, i64 8192, i64 [[B]], {{.*}}, i64 [[C]], {{.*}}, ptr null, i32 0, i32 0, i32 0, i32 1, i32 0, i1 false, i32 0, i1 false, i1 true, i32 0, i32 8192, i1 false, i32 128, i32 256, i32 256, i32 2, i32 1, i32 4)
; What threads hold: fragments of 8, of which each simdgroup has 8 x 4, in two rows of blocks.
; CHECK: call void @metalloid_multiply_tiles({{.*}}, i64 0, i64 128, i64 64, i64 8, i64 4, ptr %held, i32 8, i32 8, i32 4, i32 4, i32 4, i1 false, i32 1, i1 true, i1 false, i32 2, i32 8192, i1 true, i32 64, i32 128, i32 128, i32 1, i32 1, i32 4)
; CHECK: call void @metalloid_move_tile(ptr %held, i32 8, i32 8, i32 4, i32 4, i32 4, i1 false, i32 2, i32 64, i32 128, i64 {{%.*}}, i64 8192, i64 64, i64 1, i64 8192, i32 0, i1 false)
; CHECK-NOT: call {{.*}}@metalloid
; CHECK: define internal void @metalloid_multiply_tiles(
; CHECK: define internal void @metalloid_move_tile(

define void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {
entry:
  %held = alloca [64 x float]
  call void @metalloid.matmul2d.simdgroups.device.device.device(
      ptr addrspace(1) %a, i64 8192, i64 128, i64 1, i64 8192, i64 0, i32 0,
      ptr addrspace(1) %b, i64 256, i64 8192, i64 1, i64 8192, i64 0, i32 0,
      ptr addrspace(1) %c, i64 256, i64 128, i64 1, i64 8192, i64 0, i32 0,
      i32 128, i32 256, i32 8192, i1 false, i1 false, i1 false, i32 1, i32 8)
  call void @metalloid.matmul2d.simdgroups.device.device.held(
      ptr addrspace(1) %a, i64 64, i64 8192, i64 1, i64 8192, i64 0, i32 1,
      ptr addrspace(1) %b, i64 8192, i64 128, i64 1, i64 8192, i64 0, i32 1,
      ptr %held, i64 128, i64 64, i64 8, i64 4, i64 0, i32 2,
      i32 64, i32 128, i32 8192, i1 true, i1 true, i1 true, i32 1, i32 4)
  call void @metalloid.cooperative_tensor.store.simdgroups.held.device(
      ptr %held, i64 128, i64 64, i64 8, i64 4, i64 0, i32 2,
      ptr addrspace(1) %c, i64 8192, i64 64, i64 1, i64 8192, i64 0, i32 0)
  ret void
}
declare void @metalloid.matmul2d.simdgroups.device.device.device(
    ptr addrspace(1), i64, i64, i64, i64, i64, i32, ptr addrspace(1), i64, i64, i64, i64, i64, i32,
    ptr addrspace(1), i64, i64, i64, i64, i64, i32, i32, i32, i32, i1, i1, i1, i32, i32)
declare void @metalloid.matmul2d.simdgroups.device.device.held(
    ptr addrspace(1), i64, i64, i64, i64, i64, i32, ptr addrspace(1), i64, i64, i64, i64, i64, i32,
    ptr, i64, i64, i64, i64, i64, i32, i32, i32, i32, i1, i1, i1, i32, i32)
declare void @metalloid.cooperative_tensor.store.simdgroups.held.device(
    ptr, i64, i64, i64, i64, i64, i32, ptr addrspace(1), i64, i64, i64, i64, i64, i32)
