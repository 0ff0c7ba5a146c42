// Around a fault of LLVM 22's code generator on processors without AVX-512.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::simd {

//   %c = icmp ult <32 x i64> %a, <i64 0, i64 5, ...>   ->   %p = load <32 x i64>, ptr @apart
//   %d = select <32 x i1> %c, %b_minus_a, %a_minus_b        %c = icmp ult <32 x i64> %a, %p
//
// The code generator makes one operation of an absolute difference without a sign. Where it then sees that one operand
// is never less than the other, it takes the absolute value of their difference as a number with a sign: wrong from
// 2^63 (2^31) on. Operands of which the IR does not show that are constants that differ between the lanes, once their
// vector is cut into registers. Behind a load it knows nothing of them; they are in memory either way.
void keep_constants_apart(llvm::Module& module);

}  // namespace metalloid::engines::simd
