; Checks that nothing stands between have one branch, of comparisons of indices with numbers of elements, which come with
; the launch; what is exact stands behind it. A read in between keeps checks apart. An index with a sign has at most 2^31
; elements, and what is no scaled index of 32 bits is an offset of 64.
; RUN: lower_arguments_of_a_gpu check_bounds_of_a_gpu lower_bounds_checks_of_a_gpu
; ARGUMENT: buffer
; ARGUMENT: buffer

; CHECK-LABEL: define {{.*}}ptx_kernel void @metalloid_kernel(
; CHECK: mul i64 {{%.*}}, 12
; CHECK: [[OF_X:%.*]] = load i32, ptr {{%.*}}, align 4, !invariant.load
; CHECK-NEXT: [[X:%.*]] = icmp ult i32 [[I:%.*]], [[OF_X]]
; CHECK: [[OF_Y:%.*]] = load i32, ptr
; CHECK-NEXT: [[FEWER:%.*]] = call i32 @llvm.usub.sat.i32(i32 [[OF_Y]], i32 1)
; CHECK-NEXT: [[Y:%.*]] = icmp ult i32 [[I]], [[FEWER]]
; CHECK: [[BOTH:%.*]] = and i1 [[X]], [[Y]]
; CHECK: [[ODD:%.*]] = icmp ult i64 {{%.*}}, {{%.*}}
; CHECK: and i1 [[BOTH]], [[ODD]]
; CHECK: br i1
; CHECK: usub.sat.i64(i64 {{%.*}}, i64 3)
; CHECK: usub.sat.i64(i64 {{%.*}}, i64 15)
; CHECK: usub.sat.i64(i64 {{%.*}}, i64 3)
; CHECK: load i32, ptr addrspace(1)
; CHECK: load <4 x i32>, ptr addrspace(1)
; CHECK: [[LEAST:%.*]] = call i32 @llvm.umin.i32(i32 {{%.*}}, i32 -2147483648)
; CHECK: icmp ult i32 {{%.*}}, [[LEAST]]
; CHECK: store i32 {{%.*}}, ptr addrspace(1)
; CHECK: store i32 {{%.*}}, ptr addrspace(1)

define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %y) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %index = zext i32 %i to i64
  %x.place = getelementptr i32, ptr addrspace(1) %x, i64 %index
  %y.offset = mul i64 %index, 8
  %y.place = getelementptr i8, ptr addrspace(1) %y, i64 %y.offset
  %a = load i32, ptr addrspace(1) %x.place, align 4
  %b = load <4 x i32>, ptr addrspace(1) %y.place, align 4
  %sum = extractelement <4 x i32> %b, i32 0
  %further = sext i32 %sum to i64
  %further.place = getelementptr i32, ptr addrspace(1) %x, i64 %further
  store i32 %a, ptr addrspace(1) %further.place, align 4
  %product = mul i64 %index, %index
  %odd.place = getelementptr [3 x i32], ptr addrspace(1) %y, i64 %product
  store i32 %a, ptr addrspace(1) %odd.place, align 4
  ret void
}
