// Accesses of memory that the processor has no instruction for are there once each.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   call void @llvm.masked.store.v8i16(<8 x i16> %row, ptr align 2 %place, <8 x i1> %lanes)
// ->
//   %bits = bitcast <8 x i1> %lanes to i8
//   call void @metalloid.masked_store(<8 x i16> %row, ptr %place, i8 %bits)
//
// Without AVX-512 there are no stores of 16 bits for some lanes, no scatters, and often no gathers. LLVM makes a branch
// or a load for each element of them: of a product's tail with a thousand of these it would make most of the code. So
// in functions that have many, each kind is a call. What it calls stores a row as such if all lanes take part.
//
// Functions with up to `most` elements in such accesses keep them where they are.
void call_missing_accesses(llvm::Module& module, const llvm::TargetMachine& machine, unsigned most = 1024);

}  // namespace metalloid::engines::simd
