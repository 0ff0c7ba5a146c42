// What the programs share: a check that names its line and ends the program.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(...)                                                              \
  do {                                                                          \
    if (!(__VA_ARGS__)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

#define SAXPY_SOURCE                                                                        \
  "#include <metal_stdlib>\nusing namespace metal;\n"                                       \
  "kernel void saxpy(device float* y [[buffer(0)]], device const float* x [[buffer(1)]],\n" \
  "                  constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]) { y[i] += a * x[i]; }"
