// How the simdgroups of a threadgroup share a row, for kernels that sum up rows and go over them again.
#pragma once
#include <c10/metal/reduction_utils.h>
#include <metal_stdlib>
using namespace metal;

// A simdgroup's place among those of its threadgroup.
struct Simdgroup {
  uint lane;
  uint index;
  uint count;
};

// Each simdgroup has a part that is one run, and takes elements 64 at a time up to `whole`, with all lanes: loops whose
// bounds all lanes share need no masks.
struct Part {
  long begin, whole, end;
  Part(long size, Simdgroup simdgroup) {
    begin = 0;
    end = size;
    if (simdgroup.count > 1) {
      const long part = (size / simdgroup.count + 63) / 64 * 64;
      begin = min(size, part * simdgroup.index);
      if (simdgroup.index + 1 < simdgroup.count) end = min(size, begin + part);
    }
    whole = begin + (end - begin) / 64 * 64;
  }
};

// Every simdgroup gets the values of all, one in each lane.
inline float of_simdgroups(float value, float identity, threadgroup float* parts, Simdgroup simdgroup) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup.lane == 0) parts[simdgroup.index] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simdgroup.lane < simdgroup.count ? parts[simdgroup.lane] : identity;
}

inline float sum_of_group(float value, threadgroup float* parts, Simdgroup simdgroup) {
  value = c10::metal::simd_sum(value);
  if (simdgroup.count == 1) return value;
  return c10::metal::simd_sum(of_simdgroups(value, 0.0f, parts, simdgroup));
}
