// What a generated kernel begins and ends with.
#include <utility>

#include "statements.h"

namespace metalloid::comparison {

void Statements::declare(Node& block) {
  const auto add = [&](std::string line) { block.children.push_back(text(std::move(line))); };
  if (scope_.in_helper) {
    add("const uint i = u0 & 1023u; int v2 = v0 - v1, v3 = 7;\n");
    add("uint u1 = 3u; float f1 = 0.5f; bool p0 = v1 > 2;\n");
  } else {
    add("int v0 = in[i], v1 = int(i), v2 = 1, v3 = in[i + 1u];\n");
    add("uint u0 = uint(v3), u1 = i;\n");
    add("float f0 = in_float[i], f1 = 2.0f;\n");
    add("bool p0 = (v0 & 1) != 0;\n");
  }
  if (scope_.has_uniforms) {
    add(scope_.in_helper ? "" : "int n0 = values.c2, n1 = values.c3;\n");
  }
  if (scope_.has_halves) add("half h0 = half(v0 & 15), h1 = 2.0h;\n");
  if (scope_.has_bfloats) add("bfloat bf0 = bfloat(float(v0 & 15)), bf1 = bfloat(2.0f);\n");
  if (scope_.has_longs) add("long l0 = long(v0) * 65537l, l1 = long(u0);\n");
  if (scope_.has_narrow) add("short s0 = short(v0); uchar w0 = uchar(v1);\n");
  if (scope_.has_vectors) {
    add("float2 g2 = exactly(float2(f0, 1.0f)); float3 g3 = exactly(float3(2.0f, f0, -1.0f));\n");
    add("float4 g4 = exactly(float4(f0, 1.0f, f0 + 1.0f, 2.0f));\n");
    add("int3 q3 = int3(v0, v1, 5); uint4 r4 = uint4(u0, u1, 2u, 3u);\n");
  }
  if (scope_.has_arrays) {
    add("int a[8] = {0, 1, 2, 3, v0, v1, 6, 7};\n");
    add("float b[5] = {0.0f, f0, 1.0f, 2.0f, 3.0f};\n");
    add("float4 c[3] = {float4(1.0f), float4(exactly(f0)), float4(3.0f)};\n");
    add("int grid_of[4][3] = {{1, 2, 3}, {4, v0, 6}, {7, 8, v1}, {1, 1, 1}};\n");
    add("Pair pairs[3] = {{1, 2.0f, 3, 4}, {v0, 1.0f, 7, 8}, {v1, 0.0f, 1, 1}};\n");
  }
  if (scope_.has_pointers) {
    add("int a8[8] = {9, 8, 7, 6, v1, v0, 3, 2};\n");
    add("thread int* pointer = a;\n");
    add("device const int* from = in + i;\n");
  }
}

void Statements::finish(Node& block) {
  const auto add = [&](const std::string& value) { block.children.push_back(text("h = h * 31 + " + value + ";\n")); };
  block.children.push_back(text("int h = 0;\n"));
  for (const char* value : {"v0", "v1", "v2", "v3", "int(u0)", "int(u1)", "bits(f0)", "bits(f1)", "int(p0)"})
    add(value);
  if (scope_.has_uniforms) add("n0 + n1 * 3");
  if (scope_.has_halves) add("bits(h0) + bits(h1) * 3");
  if (scope_.has_bfloats) add("bits(bf0) + bits(bf1) * 3");
  if (scope_.has_longs) add("bits(l0) + bits(l1) * 3");
  if (scope_.has_narrow) add("int(s0) + int(w0) * 3");
  if (scope_.has_vectors) {
    for (const char* value : {"g2", "g3", "g4", "q3", "r4"}) add("bits(" + std::string(value) + ")");
  }
  if (scope_.has_arrays) {
    add("a[v0 & 7] + a[3]");
    add("bits(b[u0 % 5u])");
    add("bits(c[u1 % 3u])");
    add("grid_of[v1 & 3][1]");
    add("pairs[u0 % 3u].x + bits(pairs[1].y) + int(pairs[2].z) + int(pairs[u1 % 3u].w)");
  }
  if (scope_.has_pointers) add("pointer[v0 & 7] + from[1]");
  if (random_.one_in(2)) {
    const std::string function = random_.among({"sin", "exp", "log", "tanh", "rsqrt", "cos", "exp2", "log2", "atan"});
    block.children.push_back(
        text("if (@) loose[i] = " + function + "(exactly(@));\n", {make_.condition(1), make_.real(2)}));
  }
  block.children.push_back(text("out[i] = h;\n"));
}

Node Statements::kernel(unsigned statements) {
  Node result = make_.make("block", "");
  change_here_ = random_.among({"add", "xor", "or", "and", "min", "max"});
  change_everywhere_ = random_.among({"add", "xor", "or", "and", "min", "max"});
  if (scope_.has_threadgroup_memory) {
    result.children.push_back(text(
        "threadgroup int shared[1024]; threadgroup uchar shared_bytes[1024]; threadgroup atomic_int here[8];\n"
        "for (uint k = t; k < 1024u; k += threads) { shared[k] = int(k); shared_bytes[k] = uchar(k); }\n"
        "if (t < 8u) atomic_store_explicit(&here[t], int(t) * 77, memory_order_relaxed);\n"
        "for (uint k = t + threads; k < 8u; k += threads) atomic_store_explicit(&here[k], 1, memory_order_relaxed);\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup);\n"));
  }
  declare(result);
  result.children.push_back(block(statements,
                                  scope_.is_skeleton  ? 4
                                  : random_.one_in(3) ? 3
                                                      : 2,
                                  {.is_uniform = true}));
  finish(result);
  return result;
}

Node Statements::helper(unsigned number) {
  Node body = make_.make("block", "");
  declare(body);
  body.children.push_back(block(1 + random_.below(3), 2, {}));
  return text((random_.one_in(3) ? "__attribute__((noinline)) " : "") + std::string("static int helper_of_this_") +
                  std::to_string(number) +
                  "(int v0, uint u0, float f0) {\nint v1 = int(u0);\n@return v0 ^ v1 ^ v2 ^ v3 ^ int(u1) ^ bits(f1) ^ "
                  "bits(f0);\n}\n",
              {std::move(body)});
}

GeneratedKernel generate_kernel(std::uint64_t seed) {
  Random random(seed);
  GeneratedKernel kernel;
  kernel.dimensions = static_cast<Dimensions>(1 + random.below(3));
  Scope scope;
  scope.dimensions = kernel.dimensions;
  scope.has_safe_mathematics = kernel.has_safe_mathematics = seed / 16 % 2 == 0;  // of a library
  scope.is_skeleton = random.one_in(3);
  scope.has_halves = !scope.is_skeleton && random.one_in(6);
  scope.has_bfloats = !scope.is_skeleton && random.one_in(8);
  scope.has_longs = !scope.is_skeleton && random.one_in(7);
  scope.has_narrow = !scope.is_skeleton && random.one_in(6);
  scope.has_vectors = !scope.is_skeleton && random.one_in(5);
  scope.has_arrays = !scope.is_skeleton && random.one_in(3);
  Node functions{"block", ""};
  Scope inner = scope;
  inner.in_helper = true;
  const unsigned helpers = random.one_in(5) ? 1 + random.below(2) : 0;
  for (unsigned h = 0; h < helpers; ++h) {
    functions.children.push_back(Statements(random, inner).helper(h));
    inner.helpers = h + 1;
  }
  scope.helpers = helpers;
  scope.has_pointers = scope.has_arrays && random.one_in(3);
  scope.has_own = !scope.is_skeleton && random.one_in(3);
  scope.has_uniforms = true;
  scope.has_threadgroup_memory = random.one_in(2);
  Node body = Statements(random, scope).kernel(1 + random.below(5));
  kernel.root = {"block", "", {std::move(functions), std::move(body)}};
  return kernel;
}

}  // namespace metalloid::comparison
