// Calls with arguments in a `Registers` (calls.h), and the code of methods that are not there: it saves the arguments
// as one and hands it to metalloid_forward_message.
#include <cet.h>

#define GENERAL 0
#define VECTORS 48
#define VECTOR_COUNT 176
#define STACK 184
#define STACK_WORDS 192
#define RETURNS_X87 200
#define GENERAL_RESULTS 208
#define VECTOR_RESULTS 224
#define X87_RESULT 256
#define SIZE 272

.macro LOAD_ARGUMENTS from
  movq GENERAL(\from), %rdi
  movq GENERAL+8(\from), %rsi
  movq GENERAL+16(\from), %rdx
  movq GENERAL+24(\from), %rcx
  movq GENERAL+32(\from), %r8
  movq GENERAL+40(\from), %r9
  movaps VECTORS(\from), %xmm0
  movaps VECTORS+16(\from), %xmm1
  movaps VECTORS+32(\from), %xmm2
  movaps VECTORS+48(\from), %xmm3
  movaps VECTORS+64(\from), %xmm4
  movaps VECTORS+80(\from), %xmm5
  movaps VECTORS+96(\from), %xmm6
  movaps VECTORS+112(\from), %xmm7
  movq VECTOR_COUNT(\from), %rax
.endm

  .text
// void metalloid_call(Registers*, Method)
  .globl metalloid_call
  .type metalloid_call, @function
  .p2align 4
metalloid_call:
  .cfi_startproc
  _CET_ENDBR
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  pushq %rbx
  .cfi_offset %rbx, -24
  movq %rdi, %rbx
  movq %rsi, %r11
  movq STACK_WORDS(%rbx), %rcx
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
  movq STACK(%rbx), %rsi
  movq %rsp, %rdi
  rep movsq
  LOAD_ARGUMENTS %rbx
  call *%r11
  movq %rax, GENERAL_RESULTS(%rbx)
  movq %rdx, GENERAL_RESULTS+8(%rbx)
  movaps %xmm0, VECTOR_RESULTS(%rbx)
  movaps %xmm1, VECTOR_RESULTS+16(%rbx)
  cmpq $0, RETURNS_X87(%rbx)
  je 1f
  fstpt X87_RESULT(%rbx)
1:
  movq -8(%rbp), %rbx
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size metalloid_call, .-metalloid_call

.macro FORWARD name, in_memory
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
  subq $SIZE, %rsp
  movq %rdi, GENERAL(%rsp)
  movq %rsi, GENERAL+8(%rsp)
  movq %rdx, GENERAL+16(%rsp)
  movq %rcx, GENERAL+24(%rsp)
  movq %r8, GENERAL+32(%rsp)
  movq %r9, GENERAL+40(%rsp)
  movaps %xmm0, VECTORS(%rsp)
  movaps %xmm1, VECTORS+16(%rsp)
  movaps %xmm2, VECTORS+32(%rsp)
  movaps %xmm3, VECTORS+48(%rsp)
  movaps %xmm4, VECTORS+64(%rsp)
  movaps %xmm5, VECTORS+80(%rsp)
  movaps %xmm6, VECTORS+96(%rsp)
  movaps %xmm7, VECTORS+112(%rsp)
  movq %rax, VECTOR_COUNT(%rsp)
  leaq 16(%rbp), %rax
  movq %rax, STACK(%rsp)
  movq $0, STACK_WORDS(%rsp)
  movq $0, RETURNS_X87(%rsp)
  movq %rsp, %rdi
  movl $\in_memory, %esi
  call metalloid_forward_message@PLT
  testq %rax, %rax
  je 2f
  movq %rax, %r11
  LOAD_ARGUMENTS %rsp
  leave
  .cfi_remember_state
  .cfi_def_cfa %rsp, 8
  jmp *%r11
2:
  .cfi_restore_state
  cmpq $0, RETURNS_X87(%rsp)
  je 3f
  fldt X87_RESULT(%rsp)
3:
  movq GENERAL_RESULTS(%rsp), %rax
  movq GENERAL_RESULTS+8(%rsp), %rdx
  movaps VECTOR_RESULTS(%rsp), %xmm0
  movaps VECTOR_RESULTS+16(%rsp), %xmm1
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size \name, .-\name
.endm

  FORWARD metalloid_forward, 0
  FORWARD metalloid_forward_stret, 1

  .section .note.GNU-stack, "", @progbits
