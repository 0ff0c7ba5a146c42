; Math of vectors becomes vector code; what only few arguments need is behind a branch on "any lane".
; RUN: retarget lower_vector_math

; CHECK-LABEL: define void @kernel(

; The exponential needs no branch.
; CHECK-NOT: br i1
; CHECK-NOT: @llvm.exp.
; CHECK: %exp{{.*}} = {{.*}}<32 x float>
; CHECK: store <32 x float> %exp, ptr %out

; Sine and cosine of one angle share its reduction.
; CHECK: [[ANY:%.*]] = call i1 @llvm.vector.reduce.or.v32i1(
; CHECK: [[DEFINED:%.*]] = freeze i1 [[ANY]]
; CHECK: br i1 [[DEFINED]], label %{{.*}}, label %{{.*}}, !prof
; CHECK: call { <32 x float>, <32 x i32> } @metalloid.math.reduce_large_angles(<32 x float> %x, 
; CHECK-NOT: call {{.*}} @metalloid.math
; CHECK: store <32 x float> %cos, ptr %out

; No half is that large. It is computed as float.
; CHECK: fpext <8 x half> %h to <8 x float>
; CHECK-NOT: br i1
; CHECK: %tan{{.*}} = fptrunc <8 x float> {{.*}} to <8 x half>

; So are large quotients.
; CHECK: call <12 x float> @metalloid.math.large_remainders(<12 x float> %a, <12 x float> %b, 

; Scalars and double stay.
; CHECK: call float @llvm.exp.f32(float %s)
; CHECK: call <4 x double> @llvm.exp.v4f64(<4 x double> %d)
; CHECK-NOT: @metalloid.math
; CHECK: ret void

; CHECK: define internal { <32 x float>, <32 x i32> } @metalloid.math.reduce_large_angles({{.*}}) unnamed_addr #[[RARE:[0-9]+]]
; CHECK: call void @metalloid_reduce_large_angles(ptr %{{.*}}, ptr %{{.*}}, ptr %{{.*}}, i32 32)
; CHECK: define internal <12 x float> @metalloid.math.large_remainders(
; CHECK: call void @metalloid_large_remainders(ptr %{{.*}}, ptr %{{.*}}, ptr %{{.*}}, i32 12)
; CHECK: attributes #[[RARE]] = { cold {{.*}}noinline {{.*}}memory(none)

declare <32 x float> @llvm.exp.v32f32(<32 x float>)
declare <32 x float> @llvm.sin.v32f32(<32 x float>)
declare <32 x float> @llvm.cos.v32f32(<32 x float>)
declare <8 x half> @llvm.tan.v8f16(<8 x half>)
declare float @llvm.exp.f32(float)
declare <4 x double> @llvm.exp.v4f64(<4 x double>)

define void @kernel(ptr %out, <32 x float> %x, <8 x half> %h, <12 x float> %a, <12 x float> %b, float %s, <4 x double> %d) {
  %exp = call fast <32 x float> @llvm.exp.v32f32(<32 x float> %x)
  store <32 x float> %exp, ptr %out
  %sin = call <32 x float> @llvm.sin.v32f32(<32 x float> %x)
  store <32 x float> %sin, ptr %out
  %cos = call <32 x float> @llvm.cos.v32f32(<32 x float> %x)
  store <32 x float> %cos, ptr %out
  %tan = call <8 x half> @llvm.tan.v8f16(<8 x half> %h)
  store <8 x half> %tan, ptr %out
  %rem = frem <12 x float> %a, %b
  store <12 x float> %rem, ptr %out
  %scalar = call float @llvm.exp.f32(float %s)
  store float %scalar, ptr %out
  %double = call <4 x double> @llvm.exp.v4f64(<4 x double> %d)
  store <4 x double> %double, ptr %out
  ret void
}
