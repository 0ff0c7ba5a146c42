; Numbers of up to four bits become floats by a table of them. Five bits, and single numbers, are converted as they are.
; RUN: convert_by_table
; RUN(WITHOUT): convert_without_table

; CHECK-LABEL: define void @kernel(
; CHECK-NOT: and <32 x i32> %x, splat (i32 15)
; CHECK: [[LOW:%.*]] = shufflevector <32 x i32> %x, <32 x i32> poison, <16 x i32> <i32 0,
; CHECK: call <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float> <float 0.000000e+00, {{.*}}float 1.500000e+01>, <16 x i32> [[LOW]])
; CHECK: [[HIGH:%.*]] = shufflevector <32 x i32> %x, <32 x i32> poison, <16 x i32> <i32 16,
; CHECK: call <16 x float> @llvm.x86.avx512.permvar.sf.512({{.*}}, <16 x i32> [[HIGH]])
; CHECK: call <16 x float> @llvm.x86.avx512.permvar.sf.512(<16 x float> <float 0.000000e+00, float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 0.000000e+00, {{.*}}
; CHECK: uitofp <32 x i32> %five to <32 x float>
; CHECK: uitofp i32 %one to float
; CHECK: ret void

; WITHOUT-NOT: permvar
; WITHOUT: uitofp nneg <32 x i32> %four to <32 x float>

define void @kernel(ptr %p, i32 %n) {
  %x = load <32 x i32>, ptr %p
  %four = and <32 x i32> %x, splat (i32 15)
  %a = uitofp nneg <32 x i32> %four to <32 x float>
  store <32 x float> %a, ptr %p
  %two = and <32 x i32> %x, splat (i32 3)
  %b = sitofp <32 x i32> %two to <32 x float>
  store <32 x float> %b, ptr %p
  %five = and <32 x i32> %x, splat (i32 31)
  %c = uitofp <32 x i32> %five to <32 x float>
  store <32 x float> %c, ptr %p
  %one = and i32 %n, 15
  %d = uitofp i32 %one to float
  store float %d, ptr %p
  ret void
}
