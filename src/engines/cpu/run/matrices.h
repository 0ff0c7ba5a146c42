// The arithmetic of simdgroup matrices.
#pragma once

#include <cstdint>

namespace metalloid::engines::cpu {

// Operations on matrices that a simdgroup carries out in one meeting. Lanes put their elements into registers first:
// register r of lane l is the pair of floats at [r * 32 + l] of the simdgroup's registers. A step does c = a * b + c,
// or fills c with the elements of a and b in another order. Generated as the members, then the steps.
struct MatrixStep {
  std::uint32_t action;  // ir::MatrixAction
  std::uint32_t a, b, c;
};
struct MatrixProgram {
  std::uint32_t registers, steps;
  // A bit for each register, the lower 32 first: those that the lanes fill, and those that they read afterwards.
  std::uint32_t filled[2], read[2];
  static bool has(const std::uint32_t (&set)[2], std::uint32_t r) { return ((set[r / 32] >> (r % 32)) & 1) != 0; }
  const MatrixStep* begin() const { return reinterpret_cast<const MatrixStep*>(this + 1); }
  const MatrixStep* end() const { return begin() + steps; }
};
inline constexpr std::uint32_t most_matrix_registers = 64;

// Carries out a program on the registers of a simdgroup. Lanes that are not active count as holding zeros.
void run_matrices(const MatrixProgram& program, std::uint32_t active, std::uint64_t* registers);

}  // namespace metalloid::engines::cpu
