; What each turn of a loop does up to its barrier is there once, and the simdgroup begins by going on.
; RUN: retarget lower_arguments_of_a_lane place_lanes simplify_control_flow widen split_at_barriers_once
; ARGUMENT: buffer
; ARGUMENT: thread_position_in_grid

; CHECK-LABEL: define {{.*}}void @row.simdgroup(
; CHECK-NOT: load <32 x i32>
; CHECK: call void @row.simdgroup.resume(
; CHECK-NEXT: ret void
; CHECK: define internal {{.*}}.simdgroup.resume(
; CHECK-COUNT-1: load <32 x i32>, ptr addrspace(1)
; CHECK-NOT: load <32 x i32>, ptr addrspace(1)
; CHECK: store <32 x i32> {{.*}}, ptr addrspace(1)

declare void @metalloid.threadgroup_barrier(i32, i32, i32) convergent

define void @kernel(ptr addrspace(1) %out, i32 %position) convergent {
entry:
  %place = getelementptr i32, ptr addrspace(1) %out, i32 %position
  br label %turn
turn:
  %k = phi i32 [ 0, %entry ], [ %next, %turn ]
  %own = load i32, ptr addrspace(1) %place
  %square = mul i32 %own, %own
  %w0 = add i32 %square, %k
  %v1 = mul i32 %w0, %own
  %w1 = xor i32 %v1, %k
  %v2 = mul i32 %w1, %own
  %w2 = xor i32 %v2, %k
  %v3 = mul i32 %w2, %own
  %w3 = xor i32 %v3, %k
  %v4 = mul i32 %w3, %own
  %w4 = xor i32 %v4, %k
  %v5 = mul i32 %w4, %own
  %w5 = xor i32 %v5, %k
  %v6 = mul i32 %w5, %own
  %w6 = xor i32 %v6, %k
  %v7 = mul i32 %w6, %own
  %w7 = xor i32 %v7, %k
  %v8 = mul i32 %w7, %own
  %w8 = xor i32 %v8, %k
  %v9 = mul i32 %w8, %own
  %w9 = xor i32 %v9, %k
  %v10 = mul i32 %w9, %own
  %w10 = xor i32 %v10, %k
  %v11 = mul i32 %w10, %own
  %w11 = xor i32 %v11, %k
  %v12 = mul i32 %w11, %own
  %w12 = xor i32 %v12, %k
  %v13 = mul i32 %w12, %own
  %w13 = xor i32 %v13, %k
  %v14 = mul i32 %w13, %own
  %w14 = xor i32 %v14, %k
  %v15 = mul i32 %w14, %own
  %w15 = xor i32 %v15, %k
  %v16 = mul i32 %w15, %own
  %w16 = xor i32 %v16, %k
  %v17 = mul i32 %w16, %own
  %w17 = xor i32 %v17, %k
  %v18 = mul i32 %w17, %own
  %w18 = xor i32 %v18, %k
  %v19 = mul i32 %w18, %own
  %w19 = xor i32 %v19, %k
  %v20 = mul i32 %w19, %own
  %w20 = xor i32 %v20, %k
  %v21 = mul i32 %w20, %own
  %w21 = xor i32 %v21, %k
  %v22 = mul i32 %w21, %own
  %w22 = xor i32 %v22, %k
  %v23 = mul i32 %w22, %own
  %w23 = xor i32 %v23, %k
  %half = lshr i32 %w23, 1
  call void @metalloid.threadgroup_barrier(i32 0, i32 0, i32 0) convergent
  store i32 %half, ptr addrspace(1) %place
  %next = add i32 %k, 1
  %ends = icmp eq i32 %next, 5
  br i1 %ends, label %end, label %turn
end:
  ret void
}
