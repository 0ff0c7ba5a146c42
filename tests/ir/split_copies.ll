; Short copies become loads and stores, all loads first; long ones and those of unknown length stay.
; RUN: split_copies

; CHECK-LABEL: define void @kernel(
; CHECK: [[A:%.*]] = load <4 x i32>, ptr addrspace(1) %from, align 4
; CHECK: [[PLACE:%.*]] = getelementptr inbounds i8, ptr addrspace(1) %from, i64 16
; CHECK: [[B:%.*]] = load i32, ptr addrspace(1) [[PLACE]], align 4
; CHECK: [[C:%.*]] = load i16, ptr addrspace(1)
; CHECK: store <4 x i32> [[A]], ptr addrspace(3) %to, align 16
; CHECK: store i32 [[B]],
; CHECK: store i16 [[C]],
; CHECK: call void @llvm.memcpy{{.*}}(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 1000
; CHECK: call void @llvm.memcpy{{.*}}(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %n
; CHECK: ret void

define void @kernel(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %n) {
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 16 %to, ptr addrspace(1) align 4 %from, i64 22, i1 false)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 1000, i1 false)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) %to, ptr addrspace(1) %from, i64 %n, i1 false)
  ret void
}

declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
