// A struct of settings in a const buffer, where a divisor of zero is replaced by one before it is used.
// CHECK: --threads 1 --group 1 --arg settings=u8[8]=0,0,0,0,7,0,0,0 --arg out=u32[1]=zeros
// FINDS: read-only correct
#include <metal_stdlib>
using namespace metal;

struct Settings {
  uint divisor, number;
};

kernel void divide(device const Settings& settings, device uint* out) {
#ifdef REPAIRED
  out[0] = settings.number / max(settings.divisor, 1u);
#else
  device Settings& own = (device Settings&)settings;
  if (own.divisor == 0) own.divisor = 1;  // @correct
  out[0] = own.number / max(own.divisor, 1u);
#endif
}
