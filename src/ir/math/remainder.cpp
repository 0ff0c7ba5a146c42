// fmod is exact: x less a whole multiple of y. A quotient that is small enough is whole and right, or one too large,
// after one division; larger ones are left to rare_arguments.h.
#include "ir/math/functions.h"
#include "ir/math/rare_arguments.h"
#include "ir/math/rare_part.h"

namespace metalloid::ir::math {
namespace {

// a - q b for whole q below 2^22: exact in each way.
Floats exact_difference(Floats a, Floats q, Floats b) {
  if (a.emitter().hardware.fused_multiply_add) return multiply_add(-q, b, a);
  return to_float(to_double(a) - to_double(q) * to_double(b));
}

Floats whole_part(Floats a) { return to_float(to_int32(a)); }  // of what an int can hold

}  // namespace

Floats fmod(Floats x, Floats y, llvm::Function* large_remainders) {
  const Floats a = absolute(x), b = absolute(y);
  const Floats quotient = a / b;
  const Mask simple = quotient < rare::large_quotient;
  const Floats rest = exact_difference(a, whole_part(quotient), b);
  const Floats usual = copy_sign(select(a < b, a, select(rest < 0.0, rest + b, rest)), x);
  return with_rare_part(usual, !simple, *large_remainders, {x.value(), y.value()});
}

}  // namespace metalloid::ir::math
