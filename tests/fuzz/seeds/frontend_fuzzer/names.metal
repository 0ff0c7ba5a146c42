#define T 1
#define N 2
#define M 3
#define K 4
#define x 5
#define size 6
#define value 7
#define type 8
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#undef x
kernel void f(metal::tensor<device float, metal::dextents<int, 2>> a, device int* o) { o[0] = a.get_extent(0); }
