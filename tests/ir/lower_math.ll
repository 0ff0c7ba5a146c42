; Math of single numbers becomes code that needs nothing outside of the module, rare arguments included.
; RUN: lower_math

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: br i1
; CHECK: %exp{{.*}} = {{.*}}float
; CHECK: store float %exp, ptr %out
; CHECK: [[LARGE:%.*]] = fcmp oge float %{{.*}}, 1.310720e+05
; CHECK: [[DEFINED:%.*]] = freeze i1 [[LARGE]]
; CHECK: br i1 [[DEFINED]], label %{{.*}}, label %{{.*}}, !prof
; CHECK: call { float, i32 } @metalloid.math.reduce_large_angles(float %x, float
; CHECK: call float @metalloid.math.large_remainders(float %x, float %y, float
; CHECK: call float @metalloid.math.unusual_powers(float %x, float %y, float
; CHECK: call double @llvm.exp.f64(double %d)
; CHECK: ret void

; CHECK: define internal { float, i32 } @metalloid.math.reduce_large_angles({{.*}}) unnamed_addr
; CHECK-NOT: call void
; CHECK: define internal float @metalloid.math.large_remainders({{.*}}) unnamed_addr
; CHECK: urem i64
; CHECK: define internal float @metalloid.math.unusual_powers({{.*}}) unnamed_addr
; CHECK-NOT: call void

declare float @llvm.exp.f32(float)
declare float @llvm.cos.f32(float)
declare float @llvm.pow.f32(float, float)
declare double @llvm.exp.f64(double)

define void @kernel(ptr %out, float %x, float %y, double %d) {
  %exp = call fast float @llvm.exp.f32(float %x)
  store float %exp, ptr %out
  %cos = call float @llvm.cos.f32(float %x)
  store float %cos, ptr %out
  %rem = frem float %x, %y
  store float %rem, ptr %out
  %pow = call float @llvm.pow.f32(float %x, float %y)
  store float %pow, ptr %out
  %double = call double @llvm.exp.f64(double %d)
  store double %double, ptr %out
  ret void
}
