; Of a tile that each turn fills with copies there are three, and one barrier of a turn does. A tile that is written at
; other places in each turn stays as it is.
; RUN: ring_tiles

; CHECK: @metalloid_ring = external addrspace(3) global [0 x i8], align 16
; CHECK-LABEL: define void @kernel(
; CHECK: test:
; CHECK: [[STAGE:%.*]] = phi i32 [ 0, %entry ], [ [[NEXT:%.*]], %body ]
; CHECK: body:
; CHECK-NEXT: [[LAST:%.*]] = icmp eq i32 [[STAGE]], 2
; CHECK-NEXT: [[ONE_MORE:%.*]] = add i32 [[STAGE]], 1
; CHECK-NEXT: [[NEXT]] = select i1 [[LAST]], i32 0, i32 [[ONE_MORE]]
; CHECK-NEXT: [[WIDE:%.*]] = zext i32 [[STAGE]] to i64
; CHECK-NEXT: [[OFFSET:%.*]] = mul i64 [[WIDE]], 512
; CHECK-NEXT: [[RING:%.*]] = getelementptr inbounds i8, ptr addrspace(3) @metalloid_ring, i64 [[OFFSET]]
; CHECK-NOT: barrier
; CHECK: [[PLACE:%.*]] = getelementptr <4 x i32>, ptr addrspace(3) {{.*}}, i32 %x
; CHECK-NEXT: [[OWN:%.*]] = getelementptr inbounds i8, ptr addrspace(3) [[PLACE]], i64 [[OFFSET]]
; CHECK-NEXT: store <4 x i32> %v, ptr addrspace(3) [[OWN]]
; CHECK-NEXT: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK: [[OTHERS:%.*]] = getelementptr <4 x i32>, ptr addrspace(3) %{{.*}}, i32 %y
; CHECK-NEXT: load i32, ptr addrspace(3) [[OTHERS]]
; CHECK: kept:
; CHECK: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
; CHECK: store
; CHECK: call void @llvm.nvvm.barrier.cta.sync.all(i32 0)

@tile = internal addrspace(3) global [128 x i32] undef, align 16
@other = internal addrspace(3) global [128 x i32] undef, align 16

define void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %out, i32 %n, i32 %x) {
entry:
  %place = getelementptr <4 x i32>, ptr addrspace(3) @tile, i32 %x
  %y = xor i32 %x, 1
  br label %test

test:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %sum = phi i32 [ 0, %entry ], [ %more, %body ]
  %goes.on = icmp ult i32 %i, %n
  br i1 %goes.on, label %body, label %between

body:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %p = getelementptr <4 x i32>, ptr addrspace(1) %a, i32 %i
  %v = load <4 x i32>, ptr addrspace(1) %p, align 16, !invariant.load !0
  store <4 x i32> %v, ptr addrspace(3) %place
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %others = getelementptr <4 x i32>, ptr addrspace(3) @tile, i32 %y
  %w = load i32, ptr addrspace(3) %others
  %more = add i32 %sum, %w
  %next = add i32 %i, 1
  br label %test

between:
  br label %kept

kept:
  %j = phi i32 [ 0, %between ], [ %later, %kept ]
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %q = getelementptr <4 x i32>, ptr addrspace(1) %a, i32 %j
  %u = load <4 x i32>, ptr addrspace(1) %q, align 16, !invariant.load !0
  %there = getelementptr <4 x i32>, ptr addrspace(3) @other, i32 %j
  store <4 x i32> %u, ptr addrspace(3) %there
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  %r = load i32, ptr addrspace(3) @other
  %later = add i32 %j, 1
  %again = icmp ult i32 %later, %n
  br i1 %again, label %kept, label %end

end:
  %both = add i32 %sum, %r
  store i32 %both, ptr addrspace(1) %out
  ret void
}
declare void @llvm.nvvm.bar.warp.sync(i32) convergent
declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
!0 = !{}
