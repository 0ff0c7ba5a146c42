; In a function that calls itself, lanes say in memory that they have come to an operation with their mask, and go on when
; all of the mask have; whoever waits for one that failed ends. The kernel's own operations are as they were.
; RUN: lower_arguments_of_a_gpu pass_parameters gather_lanes
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK: @lanes_waiting = internal addrspace(3) global [1024 x i32] poison

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: store volatile i32 0, ptr addrspace(3)
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK-NOT: bar.warp.sync
; CHECK: call i32 @metalloid.masked.simd.sum.i32(i32 255

; CHECK-LABEL: define internal i32 @count(
; CHECK: store volatile i32 %lanes, ptr addrspace(3) [[OWN:%.*]], align
; CHECK: lane.look:
; CHECK: [[LEFT:%.*]] = phi i32 [ %lanes, {{%.*}} ], [ [[LEFT]], %lane.failed ], [ [[REST:%.*]], %lane.next ]
; CHECK: [[LANE:%.*]] = call i32 @llvm.cttz.i32(i32 [[LEFT]], i1 true)
; CHECK: [[SAID:%.*]] = load volatile i32, ptr addrspace(3)
; CHECK: icmp eq i32 [[SAID]], %lanes
; CHECK: lane.failed:
; CHECK: load volatile i32, ptr addrspace(1)
; CHECK: lane.leave:
; CHECK: call void @llvm.nvvm.exit()
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 %lanes)
; CHECK: store volatile i32 0, ptr addrspace(3) [[OWN]], align
; CHECK: call void @llvm.nvvm.bar.warp.sync(i32 %lanes)
; CHECK: call i32 @metalloid.masked.simd.sum.i32(i32 %lanes, i32 1)
; CHECK: lane.look{{[0-9]+}}:
; CHECK: call i32 @metalloid.lanes.where(i32 %lanes

declare i32 @metalloid.masked.simd.sum.i32(i32, i32) convergent
declare i32 @metalloid.lanes.where(i32, i1) convergent

define void @kernel(ptr addrspace(1) %x, i32 %i) {
  %all = call i32 @metalloid.masked.simd.sum.i32(i32 255, i32 1)
  %r = call i32 @count(i32 %i, i32 255)
  store i32 %r, ptr addrspace(1) %x
  ret void
}

define internal i32 @count(i32 %n, i32 %lanes) noinline {
  %sum = call i32 @metalloid.masked.simd.sum.i32(i32 %lanes, i32 1)
  %goes = icmp ne i32 %n, 0
  %deeper = call i32 @metalloid.lanes.where(i32 %lanes, i1 %goes)
  br i1 %goes, label %more, label %end
more:
  %less = sub i32 %n, 1
  %rest = call i32 @count(i32 %less, i32 %deeper)
  br label %end
end:
  %value = phi i32 [ %sum, %0 ], [ %rest, %more ]
  ret i32 %value
}
