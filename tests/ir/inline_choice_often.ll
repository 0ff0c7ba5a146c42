; A kernel that is large whatever else stays a call, and calls a function of less than a hundred instructions from thousands
; of places (each turn of a loop that is unrolled has its own): it stays, and one of the same size that is called twice
; does not.
; RUN: inline_functions

; CHECK-NOT: define internal
; CHECK: define internal i32 @often(
; CHECK-NOT: define internal
; CHECK-LABEL: define void @kernel(
; CHECK: call i32 @often(
; CHECK-NOT: call i32 @seldom(
; CHECK: ret void

define internal i32 @ten(i32 %x) {
  %a = mul i32 %x, 747796405
  %b = add i32 %a, 289559509
  %c = lshr i32 %b, 28
  %d = add i32 %c, 4
  %e = lshr i32 %b, %d
  %f = xor i32 %e, %b
  %g = mul i32 %f, 277803737
  %h = lshr i32 %g, 22
  %i = xor i32 %g, %h
  ret i32 %i
}

define internal i32 @often(i32 %x) {
  %v1 = call i32 @ten(i32 %x)
  %v2 = call i32 @ten(i32 %v1)
  %v3 = call i32 @ten(i32 %v2)
  %v4 = call i32 @ten(i32 %v3)
  %v5 = call i32 @ten(i32 %v4)
  %v6 = call i32 @ten(i32 %v5)
  %v7 = call i32 @ten(i32 %v6)
  %v8 = call i32 @ten(i32 %v7)
  ret i32 %v8
}

define internal i32 @seldom(i32 %x) {
  %v1 = call i32 @ten(i32 %x)
  %v2 = call i32 @ten(i32 %v1)
  %v3 = call i32 @ten(i32 %v2)
  %v4 = call i32 @ten(i32 %v3)
  %v5 = call i32 @ten(i32 %v4)
  %v6 = call i32 @ten(i32 %v5)
  %v7 = call i32 @ten(i32 %v6)
  %v8 = call i32 @ten(i32 %v7)
  ret i32 %v8
}

define void @kernel(ptr addrspace(1) %out, i32 %x) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %y = phi i32 [ %x, %0 ], [ %v60, %loop ]
  %v1 = call i32 @often(i32 %y)
  %v2 = call i32 @often(i32 %v1)
  %v3 = call i32 @often(i32 %v2)
  %v4 = call i32 @often(i32 %v3)
  %v5 = call i32 @often(i32 %v4)
  %v6 = call i32 @often(i32 %v5)
  %v7 = call i32 @often(i32 %v6)
  %v8 = call i32 @often(i32 %v7)
  %v9 = call i32 @often(i32 %v8)
  %v10 = call i32 @often(i32 %v9)
  %v11 = call i32 @often(i32 %v10)
  %v12 = call i32 @often(i32 %v11)
  %v13 = call i32 @often(i32 %v12)
  %v14 = call i32 @often(i32 %v13)
  %v15 = call i32 @often(i32 %v14)
  %v16 = call i32 @often(i32 %v15)
  %v17 = call i32 @often(i32 %v16)
  %v18 = call i32 @often(i32 %v17)
  %v19 = call i32 @often(i32 %v18)
  %v20 = call i32 @often(i32 %v19)
  %v21 = call i32 @often(i32 %v20)
  %v22 = call i32 @often(i32 %v21)
  %v23 = call i32 @often(i32 %v22)
  %v24 = call i32 @often(i32 %v23)
  %v25 = call i32 @often(i32 %v24)
  %v26 = call i32 @often(i32 %v25)
  %v27 = call i32 @often(i32 %v26)
  %v28 = call i32 @often(i32 %v27)
  %v29 = call i32 @often(i32 %v28)
  %v30 = call i32 @often(i32 %v29)
  %v31 = call i32 @often(i32 %v30)
  %v32 = call i32 @often(i32 %v31)
  %v33 = call i32 @often(i32 %v32)
  %v34 = call i32 @often(i32 %v33)
  %v35 = call i32 @often(i32 %v34)
  %v36 = call i32 @often(i32 %v35)
  %v37 = call i32 @often(i32 %v36)
  %v38 = call i32 @often(i32 %v37)
  %v39 = call i32 @often(i32 %v38)
  %v40 = call i32 @often(i32 %v39)
  %v41 = call i32 @often(i32 %v40)
  %v42 = call i32 @often(i32 %v41)
  %v43 = call i32 @often(i32 %v42)
  %v44 = call i32 @often(i32 %v43)
  %v45 = call i32 @often(i32 %v44)
  %v46 = call i32 @often(i32 %v45)
  %v47 = call i32 @often(i32 %v46)
  %v48 = call i32 @often(i32 %v47)
  %v49 = call i32 @often(i32 %v48)
  %v50 = call i32 @often(i32 %v49)
  %v51 = call i32 @often(i32 %v50)
  %v52 = call i32 @often(i32 %v51)
  %v53 = call i32 @often(i32 %v52)
  %v54 = call i32 @often(i32 %v53)
  %v55 = call i32 @often(i32 %v54)
  %v56 = call i32 @often(i32 %v55)
  %v57 = call i32 @often(i32 %v56)
  %v58 = call i32 @often(i32 %v57)
  %v59 = call i32 @often(i32 %v58)
  %v60 = call i32 @often(i32 %v59)
  %next = add nuw nsw i32 %i, 1
  %more = icmp ult i32 %next, 200
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  %first = call i32 @seldom(i32 %v60)
  %second = call i32 @seldom(i32 %first)
  store i32 %second, ptr addrspace(1) %out
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
