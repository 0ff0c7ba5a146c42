; Integers that masks leave less than 2^23 of become floats by their bits, also where they are shifted; others as before.
; RUN: convert_exactly
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(
; CHECK: [[LOW:%.*]] = call i32 asm "lop3.b32 $0, $1, $2, $3, 0xea;", "=r,r,n,n"(i32 %x, i32 15, i32 1258291200)
; CHECK: [[BITS:%.*]] = bitcast i32 [[LOW]] to float
; CHECK: fadd float [[BITS]], 0xC160000000000000
; CHECK: [[HIGH:%.*]] = call i32 asm "lop3.b32 $0, $1, $2, $3, 0xea;", "=r,r,n,n"(i32 %x, i32 240, i32 1258291200)
; CHECK: [[MORE:%.*]] = bitcast i32 [[HIGH]] to float
; CHECK: call float @llvm.fma.f32(float [[MORE]], float 6.250000e-02, float -5.242880e+05)
; CHECK: uitofp i32 %large to float
; CHECK: uitofp i32 %x to float

define void @kernel(ptr addrspace(1) %out) {
entry:
  %x = load i32, ptr addrspace(1) %out
  %low = and i32 %x, 15
  %a = uitofp i32 %low to float
  %shifted = lshr i32 %x, 4
  %high = and i32 %shifted, 15
  %b = uitofp i32 %high to float
  %large = and i32 %x, 16777215
  %c = uitofp i32 %large to float
  %d = uitofp i32 %x to float
  %one = fadd float %a, %b
  %two = fadd float %one, %c
  %three = fadd float %two, %d
  store float %three, ptr addrspace(1) %out
  ret void
}
