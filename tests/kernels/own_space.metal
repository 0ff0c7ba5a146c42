// Members written once per address space, and the library's own: their results lie in the space of the object.
#include <metal_stdlib>
using namespace metal;

template <typename T, size_t N>
struct Values {
  T elements[N];
  thread T& operator[](size_t i) thread { return elements[i]; }
  constexpr const thread T& operator[](size_t i) const thread { return elements[i]; }
  device T& operator[](size_t i) device { return elements[i]; }
  constexpr const device T& operator[](size_t i) const device { return elements[i]; }
  threadgroup T& operator[](size_t i) threadgroup { return elements[i]; }
  constexpr const threadgroup T& operator[](size_t i) const threadgroup { return elements[i]; }
  constexpr const constant T& operator[](size_t i) const constant { return elements[i]; }
  thread T* begin() thread { return elements; }
  device T* begin() device { return elements; }
};

template <typename T>
int space(thread T*) {
  return 0;
}
template <typename T>
int space(device T*) {
  return 1;
}
template <typename T>
int space(constant T*) {
  return 2;
}
template <typename T>
int space(threadgroup T*) {
  return 3;
}

constant Values<int, 2> table = {{10, 20}};
constant int from_table = table[1];

// RUN: --kernel own_members --threads 1 --group 1 --arg x=i32[9]=zeros --arg v_elements=i32[4]=arange
// EXPECT x: 1 3 0 2 1 0 7 20 2
// EXPECT v_elements: 0 9 2 3
kernel void own_members(device int* x, device int* v_elements) {
  device Values<int, 4>& v = *(device Values<int, 4>*)v_elements;
  threadgroup Values<int, 8> group;
  Values<int, 2> own;
  x[0] = space(&v[1]);
  x[1] = space(&group[1]);
  x[2] = space(&own[1]);
  x[3] = space(&table[1]);
  x[4] = space(v.begin());
  x[5] = space(own.begin());
  threadgroup int& element = group[2];
  element = 7;
  x[6] = *(&group[1] + 1);
  x[7] = from_table;
  device int* at = &v[1];
  *at = 9;
  x[8] = v.begin()[2];
}

// RUN: --kernel library_members --threads 1 --group 1 --arg x=i32[6]=zeros --arg a_elements=i32[4]=arange --arg m=f32[4]=arange
// EXPECT x: 1 2 3 1 1 1
// EXPECT a_elements: 0 1 5 3
// EXPECT m: 0 1 8 3
kernel void library_members(device int* x, device int* a_elements, device float2x2& m) {
  device array<int, 4>& a = *(device array<int, 4>*)a_elements;
  threadgroup float4 group;
  constant float3* none = nullptr;
  x[0] = space(&a[1]);
  x[1] = none == nullptr ? space(&(*none)[0]) : 0;
  x[2] = space(&group[2]);
  x[3] = space(a.data());
  x[4] = space(&m[1]);
  x[5] = space(&m[1][0]);
  device int& third = a[2];
  third = 5;
  device float& corner = m[1][0];
  corner = 8;
}

// The length of a vector is deduced for every integer type.
template <typename T, uint N>
uint length(vec<T, N>) {
  return N;
}
template <typename T>
struct Lanes;
template <typename T, size_t N>
struct Lanes<vec<T, N>> {
  static constexpr uint count = N;
};

// RUN: --kernel lengths --threads 1 --group 1 --arg x=u32[2]=zeros
// EXPECT x: 3 4
kernel void lengths(device uint* x) {
  x[0] = length(float3(1));
  x[1] = Lanes<half4>::count;
}
