// The order of machine code.
#pragma once

namespace metalloid::engines::cpu {

//   a = fma(x0, w0, a)           a = fma(x0, w0, a)
//   a = fma(x1, w1, a)           b = fma(y0, w0, b)
//   ...                    ->    a = fma(x1, w1, a)
//   b = fma(y0, w0, b)           b = fma(y1, w1, b)
//   b = fma(y1, w1, b)           ...
//
// Before LLVM gives out registers it puts the instructions of a block into an order: where registers are scarce, by how
// many are in use, and one chain of sums follows the other. A vector of 32 floats is two registers with AVX-512, so
// there are two chains at least, of multiply-adds that take four cycles each. Processors do not look ahead as far as a
// chain is long, and half as far where two threads share a core. So long blocks that compute with floats are ordered by
// time alone; what has no register comes from memory as an operand.
//
// Blocks of integers stay as they are, as do all for processors with 16 registers: results of integers come in a cycle,
// and a product of wide numbers that does not keep its words in registers takes 1.3 to 1.7 times as long.
//
// For all machine code that this process makes from now on.
void order_floats_by_time();

}  // namespace metalloid::engines::cpu
