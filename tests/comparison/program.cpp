#include "program.h"

namespace metalloid::comparison {

std::string Node::print() const {
  std::string result;
  auto child = children.begin();
  if (kind == "block") {
    for (const Node& node : children) result += node.print();
    return result;
  }
  for (const char c : text) {
    if (c != '@') {
      result += c;
    } else if (child != children.end()) {
      result += (child++)->print();
    }
  }
  return result;
}

// Threads only write what is theirs: bytes of `own` buffers by their index in the grid. What they share they change by
// atomic operations in any order, or between two barriers.
std::string library_head() {
  return R"(#include <metal_stdlib>
using namespace metal;

struct Pair { int x; float y; short z; uchar w; };
struct Values { int c0, c1, c2, c3; };
struct Mixed { char a; short b[3]; half4 c; long d; };

constant int chosen [[function_constant(0)]];
constant bool chosen_way [[function_constant(1)]];
constant uint chosen_count [[function_constant(2)]];
constant int never_chosen [[function_constant(3)]];
constant int derived = chosen_way ? chosen * 3 : 7;
constant int known = is_function_constant_defined(never_chosen) ? never_chosen : 5;

constant int table[16] = {3, -1, 4, 1, -5, 9, 2, 6, 5, 35, 89, 7, 9, 32, 38, -46};
constant float4 colours[3] = {float4(1.0f, 2.0f, 3.0f, 4.0f), float4(5.0f), float4(-1.0f, 0.0f, 7.0f, 8.0f)};

static float exactly(float x) { return isnan(x) ? 0.0f : rint(clamp(x, -1000.0f, 1000.0f)); }
static float2 exactly(float2 x) { return float2(exactly(x.x), exactly(x.y)); }
static float3 exactly(float3 x) { return float3(exactly(x.xy), exactly(x.z)); }
static float4 exactly(float4 x) { return float4(exactly(x.xy), exactly(x.zw)); }
static half exactly(half x) { return half(clamp(exactly(float(x)), -30.0f, 30.0f)); }
static bfloat exactly(bfloat x) { return bfloat(clamp(exactly(float(x)), -10.0f, 10.0f)); }
static int bits(float x) { return isnan(x) ? 1 : x == 0.0f ? 0 : as_type<int>(x); }
static int bits(half x) { return bits(float(x)); }
static int bits(bfloat x) { return bits(float(x)); }
static int bits(long x) { return int(x) ^ int(x >> 32); }
static int bits(float2 x) { return bits(x.x) * 31 + bits(x.y); }
static int bits(float3 x) { return bits(x.xy) * 31 + bits(x.z); }
static int bits(float4 x) { return bits(x.xy) * 31 + bits(x.zw); }
static int bits(int3 x) { return (x.x * 31 + x.y) * 31 + x.z; }
static int bits(uint4 x) { return int(((x.x * 31u + x.y) * 31u + x.z) * 31u + x.w); }
static int bits(char3 x) { return bits(int3(x)); }
static int bits(uchar4 x) { return bits(uint4(x)); }
static int bits(short4 x) { return bits(uint4(int4(x))); }
static int bits(half4 x) { return bits(float4(x)); }
static int bits(long2 x) { return bits(x.x) * 31 + bits(x.y); }
static half4 exactly(half4 x) { return half4(exactly(x.x), exactly(x.y), exactly(x.z), exactly(x.w)); }
static float whole(float x) { return float(int(exactly(x)) & 15); }
template <typename P>
static int walk(P from, int count) {
  int sum = 0;
  for (int k = 0; k < (count & 7); ++k) sum = sum * 3 + int(from[k]);
  return sum;
}
template <typename P>
static int search(P from, P end, int wanted) {
  int turns = 0;
  for (P at = from; at != end; ++at, ++turns) {
    if (int(*at) == wanted) return turns;
    if (int(*at) < -5) break;
  }
  return -turns;
}
static void bump(thread int& x, thread int& y, int z) {
  if (z & 1) { x += z; return; }
  for (int k = 0; k < (z & 3); ++k) { if (x & (1 << k)) continue; y += k; }
  y ^= x;
}
static int hash(uint x) { x *= 0x9e3779b1u; return int(x ^ (x >> 15)); }
)";
}

namespace {

std::string positions(Dimensions dimensions) {
  switch (dimensions) {
    case Dimensions::one: return "const uint gx = grid, gy = 0u, gz = 0u, lx = local, ly = 0u;\n";
    case Dimensions::two: return "const uint gx = grid.x, gy = grid.y, gz = 0u, lx = local.x, ly = local.y;\n";
    default: return "const uint gx = grid.x, gy = grid.y, gz = grid.z, lx = local.x, ly = local.y;\n";
  }
}

}  // namespace

std::string source_of(const GeneratedKernel& kernel, const std::string& name) {
  const bool is_one = kernel.dimensions == Dimensions::one;
  const std::string vector = is_one ? "uint" : kernel.dimensions == Dimensions::two ? "uint2" : "uint3";
  std::string index = "grid";
  if (kernel.dimensions == Dimensions::two) index = "grid.y * size.x + grid.x";
  if (kernel.dimensions == Dimensions::three) index = "(grid.z * size.y + grid.y) * size.x + grid.x";
  std::string functions = kernel.root.children.at(0).print();
  std::string body = kernel.root.children.at(1).print();
  const auto rename = [&](std::string& text) {
    const std::string from = "_of_this_";
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) {
      text.replace(at, from.size(), "_of_" + name + "_");
    }
  };
  rename(functions);
  rename(body);
  return functions + "kernel void " + name + R"((
    device int* out [[buffer(0)]], device const int* in [[buffer(1)]], device const float* in_float [[buffer(2)]],
    device const uchar* in_bytes [[buffer(3)]], device const Pair* in_pairs [[buffer(4)]],
    device int* own_rows [[buffer(5)]], device int* own_columns [[buffer(6)]], device uchar* own_bytes [[buffer(7)]],
    device float4* own_vectors [[buffer(8)]], device packed_float3* own_packed [[buffer(9)]],
    device half* own_halves [[buffer(10)]], device atomic_int* atomics [[buffer(11)]],
    device atomic_uint* tickets [[buffer(12)]], device float* loose [[buffer(13)]],
    constant Values& values [[buffer(14)]], device const half* in_halves [[buffer(15)]],
    device short* own_shorts [[buffer(16)]], device Mixed* own_mixed [[buffer(17)]],
    device atomic_int* own_atomics [[buffer(18)]], device atomic_float* float_atomics [[buffer(19)]],
    device atomic_ulong* wide_atomics [[buffer(20)]], constant Pair* constant_pairs [[buffer(21)]],
    threadgroup int* dynamic [[threadgroup(0)]],
    )" + vector +
         " grid [[thread_position_in_grid]], " + vector + " size [[threads_per_grid]], " + vector +
         " local [[thread_position_in_threadgroup]],\n    " + vector + " group [[threadgroup_position_in_grid]], " +
         vector + R"( extent [[threads_per_threadgroup]], uint t [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
const uint i = )" +
         index + ";\n" + positions(kernel.dimensions) + "const uint threads = " +
         (is_one                                 ? "extent"
          : kernel.dimensions == Dimensions::two ? "extent.x * extent.y"
                                                 : "extent.x * extent.y * extent.z") +
         ";\nconst int group_number = int(" + (is_one ? "group" : "group.x + 3u * group.y") + ");\n" + body + "}\n";
}

}  // namespace metalloid::comparison
