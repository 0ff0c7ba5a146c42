// matrix @ solution = what `solution` holds before, for triangular matrices: a thread substitutes one column.
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;

// Strides count elements: batch, row, column.
struct TriangularSolveParams {
  long matrix[3], solution[3];
  int size;
  int is_upper, has_unit_diagonal;
};

template <typename T>
kernel void triangular_solve(device T* solution [[buffer(0)]], device const T* matrix [[buffer(1)]],
                             constant TriangularSolveParams& params [[buffer(2)]],
                             uint2 place [[thread_position_in_grid]]) {
  matrix += place.y * params.matrix[0];
  solution += place.y * params.solution[0] + place.x * params.solution[2];
  for (int step = 0; step < params.size; ++step) {
    const int row = params.is_upper ? params.size - 1 - step : step;
    T rest = solution[row * params.solution[1]];
    for (int known = 0; known < step; ++known) {
      const int column = params.is_upper ? params.size - 1 - known : known;
      rest -= c10::metal::mul(matrix[row * params.matrix[1] + column * params.matrix[2]],
                              solution[column * params.solution[1]]);
    }
    if (!params.has_unit_diagonal) rest = c10::metal::div(rest, matrix[row * (params.matrix[1] + params.matrix[2])]);
    solution[row * params.solution[1]] = rest;
  }
}

#define TRIANGULAR_SOLVE(T)                                                             \
  template [[host_name("triangular_solve_" #T)]] kernel void triangular_solve<T>(       \
      device T*, device const T*, constant TriangularSolveParams&, uint2);
TRIANGULAR_SOLVE(float) TRIANGULAR_SOLVE(float2)
