// A struct says itself whether it holds a value; without one, the value is copied about, selected and compared with
// nothing that is used.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=-1,2,-3,4,-5,6,-7,8 --arg out=f32[8]=zeros
#include <metal_stdlib>
using namespace metal;

struct Maybe {
  float value;
  bool is_there;
};

union Word {
  uint bits;
  ushort halves[2];
};

static Maybe root_of(float x) {
  Maybe result;
  result.is_there = x >= 0;
  if (result.is_there) result.value = sqrt(x);
  return result;
}

static Maybe larger(Maybe a, Maybe b) {
  if (!a.is_there) return b;
  if (!b.is_there) return a;
  a.value = max(a.value, b.value);
  return a;
}

static float value_or(Maybe one, float other) { return one.is_there ? one.value : other; }

kernel void largest(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  Maybe best = root_of(x[i]);
  Maybe all[3];
  all[1] = root_of(x[7 - i]);
  best = larger(best, all[1]);
  const Maybe kept = best;
  Maybe nothing;
  nothing.is_there = false;
  best = larger(nothing, kept);
  Word word;
  word.halves[0] = ushort(i);
  float last;
  bool has_last = false;
  for (uint k = 0; k < 8; ++k) {
    if (x[k] < 0) continue;
    if (has_last && last > x[k]) break;
    last = x[k];
    has_last = true;
  }
  out[i] = value_or(best, -1) + float(word.bits & 0xffff) + (has_last ? last : 0.0f);
}
