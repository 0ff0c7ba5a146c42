; Of a large program, accesses of lanes that lie apart become calls of a function for their kind and stride. Rows stay, and
; what all lanes share, and what is volatile. A program that has few of them keeps all.
; RUN: lower_arguments_of_a_lane place_lanes simplify_control_flow share_accesses
; RUN(FEW): lower_arguments_of_a_lane place_lanes simplify_control_flow share_accesses_of_few
; RUN(WIDE): lower_arguments_of_a_lane place_lanes simplify_control_flow share_accesses widen
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row(
; CHECK: %a.i = load volatile i32
; CHECK: [[B:%.*]] = call x86_regcallcc <4 x i32> @"metalloid.load.<4 x i32>.in.1.aligned.4.strided.64"(ptr addrspace(1) %place.i)
; CHECK: [[C:%.*]] = call x86_regcallcc <4 x i32> @"metalloid.load.<4 x i32>.in.1.aligned.4.strided.64"(ptr addrspace(1) %second.i)
; CHECK: [[SUM:%.*]] = add <4 x i32> [[B]], [[C]]
; CHECK: call x86_regcallcc void @"metalloid.store.<4 x i32>.in.1.aligned.4.strided.64"(ptr addrspace(1) %place.i, <4 x i32> [[SUM]])
; CHECK: %d.i = load i32, ptr addrspace(1) %row.i
; CHECK: %e.i = load i32, ptr addrspace(1) %{{.*}}
; CHECK: ret void

; CHECK: define internal x86_regcallcc <4 x i32> @"metalloid.load.<4 x i32>.in.1.aligned.4.strided.64"(ptr addrspace(1) {{.*}}[[ADDRESS:%[0-9]+]])
; CHECK: [[LOADED:%.*]] = load <4 x i32>, ptr addrspace(1) [[ADDRESS]], align 4
; CHECK: ret <4 x i32> [[LOADED]]

; FEW-LABEL: define {{.*}}void @row(
; FEW-NOT: x86_regcallcc
; FEW: ret void

; WIDE-LABEL: define {{.*}}void @row.simdgroup(
; WIDE: call x86_regcallcc { <32 x i32>, <32 x i32>, <32 x i32>, <32 x i32> } @"metalloid.load.<4 x i32>.in.1.aligned.4.strided.64.simdgroup"(ptr addrspace(1) %{{.*}}, i32 -1)
; WIDE: call x86_regcallcc void @"metalloid.store.<4 x i32>.in.1.aligned.4.strided.64.simdgroup"(ptr addrspace(1) %{{.*}}, <32 x i32> %{{.*}}, <32 x i32> %{{.*}}, <32 x i32> %{{.*}}, <32 x i32> %{{.*}}, i32 -1)

target triple = "x86_64-pc-linux-gnu"

define void @kernel(ptr addrspace(1) %x, i32 %position) {
  %i = zext i32 %position to i64
  %place = getelementptr [16 x i32], ptr addrspace(1) %x, i64 %i
  %second = getelementptr i8, ptr addrspace(1) %place, i64 16
  %a = load volatile i32, ptr addrspace(1) %place, align 4
  %b = load <4 x i32>, ptr addrspace(1) %place, align 4
  %c = load <4 x i32>, ptr addrspace(1) %second, align 4
  %sum = add <4 x i32> %b, %c
  store <4 x i32> %sum, ptr addrspace(1) %place, align 4
  %row = getelementptr i32, ptr addrspace(1) %x, i64 %i
  %d = load i32, ptr addrspace(1) %row, align 4
  %e = load i32, ptr addrspace(1) %x, align 4
  %f = add i32 %d, %e
  %g = add i32 %f, %a
  store i32 %g, ptr addrspace(1) %row, align 4
  ret void
}
