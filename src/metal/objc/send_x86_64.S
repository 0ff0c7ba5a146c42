// objc_msgSend as a function: looks the method up and goes on there with the arguments as they came, in registers and
// on the stack. Results in memory (_stret) have their place in the first register, so that receiver and selector are in
// the second and third.
#include <cet.h>

.macro SEND name, receiver, selector, lookup
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
  _CET_ENDBR
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movq \receiver(%rsp), %rdi
  movq \selector(%rsp), %rsi
  call \lookup@PLT
  movq %rax, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size \name, .-\name
.endm

  .text
  SEND objc_msgSend, 0, 8, objc_msg_lookup
  SEND objc_msgSend_fpret, 0, 8, objc_msg_lookup
  SEND objc_msgSend_stret, 8, 16, objc_msg_lookup_stret

  .section .note.GNU-stack, "", @progbits
