// The closed list of C library and compiler functions that generated code may call. Nothing else of the process is
// visible to a kernel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "engines/cpu_shared/code/loader.h"
#include "support/bfloat16.h"
#include "support/made_once.h"

// NOLINTBEGIN(bugprone-reserved-identifier): these are the compiler's own names.
extern "C" {
// The compiler's conversions of half, for machines without instructions for them. Only their addresses are used, so
// the halves in their signatures may stand as float, which travels in the same register.
float __truncsfhf2(float);
float __truncdfhf2(double);
float __extendhfsf2(float);
// What pow becomes under fast math when its exponent is a whole number.
float __powisf2(float, int);
double __powidf2(double, int);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace metalloid::engines::cpu {
namespace {

struct Entry {
  std::string_view name;
  void* address;
};

// Calling convention of bfloat results: the low half of xmm0.
float bfloat_in_register(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits}); }

float truncate_float_to_bfloat(float value) { return bfloat_in_register(support::double_to_bfloat16(value)); }

float truncate_double_to_bfloat(double value) { return bfloat_in_register(support::double_to_bfloat16(value)); }

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

using F1 = float(float);
using F2 = float(float, float);
using F3 = float(float, float, float);
using D1 = double(double);
using D2 = double(double, double);
using D3 = double(double, double, double);

#define UNARY(name) \
  {#name "f", address_of<F1>(::name##f)}, { #name, address_of<D1>(::name) }
#define BINARY(name) \
  {#name "f", address_of<F2>(::name##f)}, { #name, address_of<D2>(::name) }
#define PLAIN(name) {#name, reinterpret_cast<void*>(&::name)}

const std::vector<Entry>& entries() {
  static constinit support::MadeOnce<std::vector<Entry>> sorted;
  return sorted.get([] {
    std::vector<Entry> list = {
        UNARY(acos),
        UNARY(acosh),
        UNARY(asin),
        UNARY(asinh),
        UNARY(atan),
        UNARY(atanh),
        UNARY(cbrt),
        UNARY(ceil),
        UNARY(cos),
        UNARY(cosh),
        UNARY(erf),
        UNARY(erfc),
        UNARY(exp),
        UNARY(exp2),
        UNARY(exp10),
        UNARY(expm1),
        UNARY(fabs),
        UNARY(floor),
        UNARY(lgamma),
        UNARY(log),
        UNARY(log10),
        UNARY(log1p),
        UNARY(log2),
        UNARY(logb),
        UNARY(nearbyint),
        UNARY(rint),
        UNARY(round),
        UNARY(roundeven),
        UNARY(sin),
        UNARY(sinh),
        UNARY(sqrt),
        UNARY(tan),
        UNARY(tanh),
        UNARY(tgamma),
        UNARY(trunc),
        UNARY(j0),
        UNARY(j1),
        UNARY(y0),
        UNARY(y1),
        BINARY(atan2),
        BINARY(copysign),
        BINARY(fdim),
        BINARY(fmax),
        BINARY(fmin),
        BINARY(fmod),
        BINARY(hypot),
        BINARY(nextafter),
        BINARY(pow),
        BINARY(remainder),
        {"fmaf", address_of<F3>(::fmaf)},
        {"fma", address_of<D3>(::fma)},
        PLAIN(ldexpf),
        PLAIN(ldexp),
        PLAIN(scalbnf),
        PLAIN(scalbn),
        PLAIN(frexpf),
        PLAIN(frexp),
        PLAIN(modff),
        PLAIN(modf),
        PLAIN(ilogbf),
        PLAIN(ilogb),
        PLAIN(sincosf),
        PLAIN(sincos),
        PLAIN(lrintf),
        PLAIN(llrintf),
        PLAIN(lroundf),
        PLAIN(llroundf),
        PLAIN(remquof),
        PLAIN(lgammaf_r),
        PLAIN(lgamma_r),
        {"memcpy", address_of<void*(void*, const void*, std::size_t)>(::memcpy)},
        {"memmove", address_of<void*(void*, const void*, std::size_t)>(::memmove)},
        {"memset", address_of<void*(void*, int, std::size_t)>(::memset)},
        {"memcmp", address_of<int(const void*, const void*, std::size_t)>(::memcmp)},
        {"bcmp", address_of<int(const void*, const void*, std::size_t)>(::memcmp)},
        {"__truncsfbf2", address_of(truncate_float_to_bfloat)},
        {"__truncdfbf2", address_of(truncate_double_to_bfloat)},
        PLAIN(__truncsfhf2),
        PLAIN(__truncdfhf2),
        PLAIN(__extendhfsf2),
        PLAIN(__powisf2),
        PLAIN(__powidf2),
    };
    std::sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return list;
  });
}

}  // namespace

void* allowed_symbol(std::string_view name) {
  const auto& list = entries();
  auto found = std::lower_bound(list.begin(), list.end(), name,
                                [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != list.end() && found->name == name ? found->address : nullptr;
}

}  // namespace metalloid::engines::cpu
