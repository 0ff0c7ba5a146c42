// Kernels of a project that xcrun builds, with a header of its own.
#include <metal_stdlib>
#include "addend.h"
using namespace metal;

kernel void add(device float* values, uint i [[thread_position_in_grid]]) { values[i] += addend; }

template <typename T>
kernel void fill(device T* values, uint i [[thread_position_in_grid]]) { values[i] = T(addend); }
template [[host_name("fill_float")]] kernel void fill<float>(device float*, uint);
template [[host_name("fill_int")]] kernel void fill<int>(device int*, uint);
