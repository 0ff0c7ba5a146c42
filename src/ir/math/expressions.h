// Arithmetic on LLVM's numbers and vectors of them, written as C++ expressions: the formulas of math read as formulas,
// and one text serves a single number, every width and every processor. Each operation appends an instruction without
// fast-math flags at the builder's place.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace metalloid::ir::math {

// What formulas depend on.
struct MathHardware {
  bool fused_multiply_add;  // else llvm.fma would become calls
  bool scaling;             // llvm.ldexp is an instruction
  bool rounding;            // llvm.rint and its kin are
  bool half;                // there is arithmetic of halves
};

struct Emitter {
  llvm::IRBuilder<>& builder;
  MathHardware hardware;
};

// Values of one instruction stream; the three kinds keep formulas from mixing what LLVM would not.
class Expression {
 public:
  Expression(const Emitter& emitter, llvm::Value* value) : emitter_(&emitter), value_(value) {}
  llvm::Value* value() const { return value_; }
  const Emitter& emitter() const { return *emitter_; }
  llvm::IRBuilder<>& builder() const { return emitter_->builder; }
  llvm::Type* type() const { return value_->getType(); }
  // Another type in the same form: alone, or a vector of as many.
  llvm::Type* with_element(llvm::Type* element) const;

 private:
  const Emitter* emitter_;
  llvm::Value* value_;
};

class Mask : public Expression {
 public:
  using Expression::Expression;
};

class Integers : public Expression {
 public:
  using Expression::Expression;
  Integers constant(std::int64_t number) const;
};

// Floats or doubles.
class Floats : public Expression {
 public:
  using Expression::Expression;
  Floats constant(double number) const;
};

// Operands may be numbers on either side.
#define METALLOID_EXPRESSION_BINARY(kind, number, symbol, create)                                                 \
  inline kind operator symbol(kind a, kind b) { return {a.emitter(), a.builder().create(a.value(), b.value())}; } \
  inline kind operator symbol(kind a, std::convertible_to<number> auto b) { return a symbol a.constant(b); }      \
  inline kind operator symbol(std::convertible_to<number> auto a, kind b) { return b.constant(a) symbol b; }
#define METALLOID_EXPRESSION_COMPARE(kind, number, symbol, create)                                                \
  inline Mask operator symbol(kind a, kind b) { return {a.emitter(), a.builder().create(a.value(), b.value())}; } \
  inline Mask operator symbol(kind a, std::convertible_to<number> auto b) { return a symbol a.constant(b); }
METALLOID_EXPRESSION_BINARY(Floats, double, +, CreateFAdd)
METALLOID_EXPRESSION_BINARY(Floats, double, -, CreateFSub)
METALLOID_EXPRESSION_BINARY(Floats, double, *, CreateFMul)
METALLOID_EXPRESSION_BINARY(Floats, double, /, CreateFDiv)
// False where one is NaN, except !=.
METALLOID_EXPRESSION_COMPARE(Floats, double, <, CreateFCmpOLT)
METALLOID_EXPRESSION_COMPARE(Floats, double, <=, CreateFCmpOLE)
METALLOID_EXPRESSION_COMPARE(Floats, double, >, CreateFCmpOGT)
METALLOID_EXPRESSION_COMPARE(Floats, double, >=, CreateFCmpOGE)
METALLOID_EXPRESSION_COMPARE(Floats, double, ==, CreateFCmpOEQ)
METALLOID_EXPRESSION_COMPARE(Floats, double, !=, CreateFCmpUNE)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, +, CreateAdd)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, -, CreateSub)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, *, CreateMul)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, &, CreateAnd)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, |, CreateOr)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, ^, CreateXor)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, <<, CreateShl)
METALLOID_EXPRESSION_BINARY(Integers, std::int64_t, >>, CreateAShr)
METALLOID_EXPRESSION_COMPARE(Integers, std::int64_t, ==, CreateICmpEQ)
METALLOID_EXPRESSION_COMPARE(Integers, std::int64_t, !=, CreateICmpNE)
METALLOID_EXPRESSION_COMPARE(Integers, std::int64_t, <, CreateICmpSLT)
METALLOID_EXPRESSION_COMPARE(Integers, std::int64_t, >, CreateICmpSGT)
#undef METALLOID_EXPRESSION_BINARY
#undef METALLOID_EXPRESSION_COMPARE
inline Mask operator&(Mask a, Mask b) { return {a.emitter(), a.builder().CreateAnd(a.value(), b.value())}; }
inline Mask operator|(Mask a, Mask b) { return {a.emitter(), a.builder().CreateOr(a.value(), b.value())}; }
inline Mask operator!(Mask a) { return {a.emitter(), a.builder().CreateNot(a.value())}; }
inline Floats operator-(Floats a) { return {a.emitter(), a.builder().CreateFNeg(a.value())}; }

template <typename Kind>
Kind select(Mask condition, Kind yes, Kind no) {
  return {yes.emitter(), yes.builder().CreateSelect(condition.value(), yes.value(), no.value())};
}
inline Floats select(Mask condition, double yes, Floats no) { return select(condition, no.constant(yes), no); }
inline Floats select(Mask condition, Floats yes, double no) { return select(condition, yes, yes.constant(no)); }
inline Integers select(Mask condition, std::int64_t yes, Integers no) {
  return select(condition, no.constant(yes), no);
}
// Whether it is set for any element: an i1 that may decide a branch, whatever those that nobody asked about hold.
llvm::Value* any(Mask mask);

Integers bits(Floats a);
Floats from_bits(Integers a);  // of the float as wide as a
Floats to_double(Floats a);
Floats to_double(Integers a);
Floats to_float(Floats a);
Floats to_float(Integers a);
Integers to_int32(Floats a);    // towards zero; undefined where it does not fit
Integers extend(Integers a);    // 32 -> 64 bits, by zeros
Integers truncate(Integers a);  // 64 -> 32 bits
Mask below_unsigned(Integers a, std::int64_t limit);
Integers logical_shift_right(Integers a, Integers by);
inline Integers logical_shift_right(Integers a, std::int64_t by) { return logical_shift_right(a, a.constant(by)); }
Integers unsigned_remainder(Integers a, Integers b);

// a * b + c, rounded once where that is one instruction: for sums that are right either way.
Floats multiply_add(Floats a, Floats b, Floats c);
inline Floats multiply_add(Floats a, double b, Floats c) { return multiply_add(a, a.constant(b), c); }
inline Floats multiply_add(Floats a, Floats b, double c) { return multiply_add(a, b, a.constant(c)); }
inline Floats multiply_add(Floats a, double b, double c) { return multiply_add(a, a.constant(b), a.constant(c)); }
inline Floats multiply_add(double a, Floats b, Floats c) { return multiply_add(b.constant(a), b, c); }

Floats absolute(Floats a);
Floats square_root(Floats a);
Floats copy_sign(Floats magnitude, Floats sign);
Floats at_most(Floats a, double limit);   // NaN stays
Floats at_least(Floats a, double limit);  // NaN stays
Mask has_sign(Floats a);
Mask is_nan(Floats a);
// To the nearest whole number, ties to even; any float.
Floats round_to_even(Floats a);

// c[0] + c[1] x + ...
template <typename Number>
Floats polynomial(Floats x, std::span<const Number> coefficients) {
  Floats sum = x.constant(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = multiply_add(sum, x, x.constant(coefficients[i]));
  return sum;
}
template <typename Number, std::size_t count>
Floats polynomial(Floats x, const Number (&coefficients)[count]) {
  return polynomial(x, std::span<const Number>(coefficients));
}

}  // namespace metalloid::ir::math
