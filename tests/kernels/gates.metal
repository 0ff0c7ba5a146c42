// Arguments that a constant switches on and off (MSL spec 5.8.1.3): a function constant, one computed from it, or any
// other constant.
#include <metal_stdlib>
using namespace metal;

constant bool wanted [[function_constant(0)]];
constant int quality [[function_constant(1)]];
constant bool high = quality > 3;
constant bool always = true;
constexpr constant bool never = false;
namespace options {
constant int count = 256;
}
template <typename T>
struct Traits {
  static constexpr constant bool is_wide = sizeof(T) == 4;
  static constexpr constant bool is_narrow = !is_wide;
};

// RUN: --kernel constants --constant quality=1 --threads 1 --group 1 --arg x=i32[5]=zeros --arg a=i32[1]=zeros --arg d=i32[1]=zeros
// EXPECT x: 1 0 1 0 0
// RUN: --kernel constants --constant quality=4 --threads 1 --group 1 --arg x=i32[5]=zeros --arg a=i32[1]=zeros --arg d=i32[1]=zeros --arg e=i32[1]=zeros
// EXPECT x: 1 0 1 1 0
kernel void constants(device int* x [[buffer(0)]], device int* a [[buffer(1), function_constant(always)]],
                      device int* b [[buffer(2), function_constant(never)]],
                      device int* c [[buffer(2), function_constant(Traits<half>::is_wide)]],
                      device int* d [[buffer(3), function_constant(options::count)]],
                      device int* e [[buffer(4), function_constant(high)]]) {
  x[0] = a != nullptr;
  x[1] = b != nullptr || c != nullptr;
  x[2] = d != nullptr;
  x[3] = e != nullptr;
}

template <typename T, bool has_bias, int extra>
kernel void of_template(device int* x [[buffer(0)]], device T* a [[buffer(1), function_constant(has_bias)]],
                        device T* b [[buffer(2), function_constant(Traits<T>::is_wide)]],
                        device T* c [[buffer(3), function_constant(has_bias && extra > 1)]]) {
  x[0] = a != nullptr;
  x[1] = b != nullptr;
  x[2] = c != nullptr;
}
// RUN: --kernel biased --threads 1 --group 1 --arg x=i32[3]=zeros --arg a=f32[1]=zeros --arg b=f32[1]=zeros --arg c=f32[1]=zeros
// EXPECT x: 1 1 1
template [[host_name("biased")]] kernel void of_template<float, true, 256>(device int*, device float*, device float*,
                                                                          device float*);
// RUN: --kernel plain --threads 1 --group 1 --arg x=i32[3]=zeros
// EXPECT x: 0 0 0
template [[host_name("plain")]] kernel void of_template<half, false, 256>(device int*, device half*, device half*,
                                                                         device half*);

// The value of a static member of a template stands outside of its class.
template <int limit>
struct Above {
  static constant bool value;
};
template <int limit>
constant bool Above<limit>::value = quality > limit;
template <int size>
struct Wide {
  static constant bool value;
};
template <int size>
constant bool Wide<size>::value = size > 4;
// RUN: --kernel static_members --constant quality=4 --threads 1 --group 1 --arg x=i32[4]=zeros --arg a=i32[1]=zeros --arg d=i32[1]=zeros
// EXPECT x: 1 0 0 1
kernel void static_members(device int* x [[buffer(0)]], device int* a [[buffer(1), function_constant(Above<3>::value)]],
                           device int* b [[buffer(2), function_constant(Above<4>::value)]],
                           device int* c [[buffer(3), function_constant(Wide<4>::value)]],
                           device int* d [[buffer(4), function_constant(Wide<8>::value)]]) {
  x[0] = a != nullptr;
  x[1] = b != nullptr;
  x[2] = c != nullptr;
  x[3] = d != nullptr;
}

// Arguments at program scope.
device int* constant optional_values [[buffer(5), function_constant(wanted)]];
constant float& optional_scale [[buffer(6), function_constant(high)]];
__attribute__((noinline)) int optional_value() { return wanted ? optional_values[0] : -1; }
// RUN: --kernel at_program_scope --constant wanted=false --constant quality=1 --threads 1 --group 1 --arg x=i32[2]=zeros
// EXPECT x: -1 -2
// RUN: --kernel at_program_scope --constant wanted=true --constant quality=9 --threads 1 --group 1 --arg x=i32[2]=zeros --arg optional_values=i32[1]=ones --arg optional_scale=f32:7
// EXPECT x: 1 7
// RUN: --kernel at_program_scope --constant wanted=true --constant quality=1 --threads 1 --group 1 --arg x=i32[2]=zeros
// ERROR invalid_argument: optional_values
kernel void at_program_scope(device int* x [[buffer(0)]]) {
  x[0] = optional_value();
  x[1] = high ? int(optional_scale) : -2;
}

// What a kernel hands only to code that is left out need not be bound, attributes of that code's parameters or not.
template <bool is_scaled>
struct Store {
  static void run(device float* y, const constant float& factor [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    y[i] = is_scaled ? factor * y[i] : y[i] + 1.0f;
  }
};
template <bool is_scaled>
kernel void stored(device float* y [[buffer(0)]], const constant float& factor [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  Store<is_scaled>::run(y, factor, i);
}
// RUN: --kernel unscaled --threads 2 --group 2 --arg y=f32[2]=zeros
// EXPECT y: 1 1
template [[host_name("unscaled")]] kernel void stored<false>(device float*, const constant float&, uint);
