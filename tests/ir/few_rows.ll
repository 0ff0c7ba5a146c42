; A long loop that goes along five rows, one of which is read at two places.
; RUN: few_rows
; ARGUMENT: buffer

; CHECK-LABEL: define void @kernel(

define void @kernel(ptr addrspace(1) %a, i64 %row) {
entry:
  %distance.1 = mul i64 %row, 1
  %row.1 = getelementptr float, ptr addrspace(1) %a, i64 %distance.1
  %distance.2 = mul i64 %row, 2
  %row.2 = getelementptr float, ptr addrspace(1) %a, i64 %distance.2
  %distance.3 = mul i64 %row, 3
  %row.3 = getelementptr float, ptr addrspace(1) %a, i64 %distance.3
  %distance.4 = mul i64 %row, 4
  %row.4 = getelementptr float, ptr addrspace(1) %a, i64 %distance.4
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p.0 = getelementptr float, ptr addrspace(1) %a, i64 %k
  %x.0 = load volatile float, ptr addrspace(1) %p.0
  %beside = getelementptr i8, ptr addrspace(1) %p.0, i64 4
  %x.beside = load volatile float, ptr addrspace(1) %beside
  %p.1 = getelementptr float, ptr addrspace(1) %row.1, i64 %k
  %x.1 = load volatile float, ptr addrspace(1) %p.1
  %p.2 = getelementptr float, ptr addrspace(1) %row.2, i64 %k
  %x.2 = load volatile float, ptr addrspace(1) %p.2
  %p.3 = getelementptr float, ptr addrspace(1) %row.3, i64 %k
  %x.3 = load volatile float, ptr addrspace(1) %p.3
  %p.4 = getelementptr float, ptr addrspace(1) %row.4, i64 %k
  %x.4 = load volatile float, ptr addrspace(1) %p.4
  %pad.0 = load volatile float, ptr addrspace(1) %beside
  %pad.1 = load volatile float, ptr addrspace(1) %beside
  %pad.2 = load volatile float, ptr addrspace(1) %beside
  %pad.3 = load volatile float, ptr addrspace(1) %beside
  %pad.4 = load volatile float, ptr addrspace(1) %beside
  %pad.5 = load volatile float, ptr addrspace(1) %beside
  %pad.6 = load volatile float, ptr addrspace(1) %beside
  %pad.7 = load volatile float, ptr addrspace(1) %beside
  %pad.8 = load volatile float, ptr addrspace(1) %beside
  %pad.9 = load volatile float, ptr addrspace(1) %beside
  %pad.10 = load volatile float, ptr addrspace(1) %beside
  %pad.11 = load volatile float, ptr addrspace(1) %beside
  %pad.12 = load volatile float, ptr addrspace(1) %beside
  %pad.13 = load volatile float, ptr addrspace(1) %beside
  %pad.14 = load volatile float, ptr addrspace(1) %beside
  %pad.15 = load volatile float, ptr addrspace(1) %beside
  %pad.16 = load volatile float, ptr addrspace(1) %beside
  %pad.17 = load volatile float, ptr addrspace(1) %beside
  %pad.18 = load volatile float, ptr addrspace(1) %beside
  %pad.19 = load volatile float, ptr addrspace(1) %beside
  %pad.20 = load volatile float, ptr addrspace(1) %beside
  %pad.21 = load volatile float, ptr addrspace(1) %beside
  %pad.22 = load volatile float, ptr addrspace(1) %beside
  %pad.23 = load volatile float, ptr addrspace(1) %beside
  %pad.24 = load volatile float, ptr addrspace(1) %beside
  %pad.25 = load volatile float, ptr addrspace(1) %beside
  %pad.26 = load volatile float, ptr addrspace(1) %beside
  %pad.27 = load volatile float, ptr addrspace(1) %beside
  %pad.28 = load volatile float, ptr addrspace(1) %beside
  %pad.29 = load volatile float, ptr addrspace(1) %beside
  %pad.30 = load volatile float, ptr addrspace(1) %beside
  %pad.31 = load volatile float, ptr addrspace(1) %beside
  %pad.32 = load volatile float, ptr addrspace(1) %beside
  %pad.33 = load volatile float, ptr addrspace(1) %beside
  %pad.34 = load volatile float, ptr addrspace(1) %beside
  %pad.35 = load volatile float, ptr addrspace(1) %beside
  %pad.36 = load volatile float, ptr addrspace(1) %beside
  %pad.37 = load volatile float, ptr addrspace(1) %beside
  %pad.38 = load volatile float, ptr addrspace(1) %beside
  %pad.39 = load volatile float, ptr addrspace(1) %beside
  %pad.40 = load volatile float, ptr addrspace(1) %beside
  %pad.41 = load volatile float, ptr addrspace(1) %beside
  %pad.42 = load volatile float, ptr addrspace(1) %beside
  %pad.43 = load volatile float, ptr addrspace(1) %beside
  %pad.44 = load volatile float, ptr addrspace(1) %beside
  %pad.45 = load volatile float, ptr addrspace(1) %beside
  %pad.46 = load volatile float, ptr addrspace(1) %beside
  %pad.47 = load volatile float, ptr addrspace(1) %beside
  %pad.48 = load volatile float, ptr addrspace(1) %beside
  %pad.49 = load volatile float, ptr addrspace(1) %beside
  %pad.50 = load volatile float, ptr addrspace(1) %beside
  %pad.51 = load volatile float, ptr addrspace(1) %beside
  %pad.52 = load volatile float, ptr addrspace(1) %beside
  %pad.53 = load volatile float, ptr addrspace(1) %beside
  %pad.54 = load volatile float, ptr addrspace(1) %beside
  %pad.55 = load volatile float, ptr addrspace(1) %beside
  %pad.56 = load volatile float, ptr addrspace(1) %beside
  %pad.57 = load volatile float, ptr addrspace(1) %beside
  %pad.58 = load volatile float, ptr addrspace(1) %beside
  %pad.59 = load volatile float, ptr addrspace(1) %beside
  %pad.60 = load volatile float, ptr addrspace(1) %beside
  %pad.61 = load volatile float, ptr addrspace(1) %beside
  %pad.62 = load volatile float, ptr addrspace(1) %beside
  %pad.63 = load volatile float, ptr addrspace(1) %beside
  %pad.64 = load volatile float, ptr addrspace(1) %beside
  %pad.65 = load volatile float, ptr addrspace(1) %beside
  %pad.66 = load volatile float, ptr addrspace(1) %beside
  %pad.67 = load volatile float, ptr addrspace(1) %beside
  %pad.68 = load volatile float, ptr addrspace(1) %beside
  %pad.69 = load volatile float, ptr addrspace(1) %beside
  %pad.70 = load volatile float, ptr addrspace(1) %beside
  %pad.71 = load volatile float, ptr addrspace(1) %beside
  %pad.72 = load volatile float, ptr addrspace(1) %beside
  %pad.73 = load volatile float, ptr addrspace(1) %beside
  %pad.74 = load volatile float, ptr addrspace(1) %beside
  %pad.75 = load volatile float, ptr addrspace(1) %beside
  %pad.76 = load volatile float, ptr addrspace(1) %beside
  %pad.77 = load volatile float, ptr addrspace(1) %beside
  %pad.78 = load volatile float, ptr addrspace(1) %beside
  %pad.79 = load volatile float, ptr addrspace(1) %beside
  %pad.80 = load volatile float, ptr addrspace(1) %beside
  %pad.81 = load volatile float, ptr addrspace(1) %beside
  %pad.82 = load volatile float, ptr addrspace(1) %beside
  %pad.83 = load volatile float, ptr addrspace(1) %beside
  %pad.84 = load volatile float, ptr addrspace(1) %beside
  %pad.85 = load volatile float, ptr addrspace(1) %beside
  %pad.86 = load volatile float, ptr addrspace(1) %beside
  %pad.87 = load volatile float, ptr addrspace(1) %beside
  %pad.88 = load volatile float, ptr addrspace(1) %beside
  %pad.89 = load volatile float, ptr addrspace(1) %beside
  %next = add nuw nsw i64 %k, 2
  %more = icmp ult i64 %next, 256
  br i1 %more, label %loop, label %end
end:
  ret void
}
