// What a generated kernel begins and ends with.
#include <cctype>
#include <utility>

#include "statements.h"

namespace metalloid::comparison {

namespace {

// What a kernel may use, and what of it goes into the kernel's result.
struct Variable {
  std::string name, declaration, result;
};

bool mentions(const std::string& text, const std::string& name) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool ends = end == text.size() || text[end] == '.' || !is_part(text[end]);
    if ((at == 0 || !is_part(text[at - 1])) && ends) return true;
  }
  return false;
}

const std::vector<Variable>& threadgroup_variables() {
  static const std::vector<Variable> all = {
      {"shared", "threadgroup int shared[1024]; for (uint k = t; k < 1024u; k += threads) shared[k] = int(k);\n", ""},
      {"shared_bytes",
       "threadgroup uchar shared_bytes[1024]; for (uint k = t; k < 1024u; k += threads) shared_bytes[k] = uchar(k);\n",
       ""},
      {"here",
       "threadgroup atomic_int here[8]; for (uint k = t; k < 8u; k += threads)\n"
       "atomic_store_explicit(&here[k], int(k) * 77, memory_order_relaxed);\n",
       ""},
      {"tiles", "threadgroup float tiles[2048]; for (uint k = t; k < 2048u; k += threads) tiles[k] = 2.0f;\n", ""},
      {"slots", "threadgroup int slots[2048]; slots[t] = int(t); slots[1024u + t] = 3;\n", ""},
      {"dynamic", "dynamic[t * 2u] = 5; dynamic[t * 2u + 1u] = int(t);\n", ""}};
  return all;
}

const std::vector<Variable>& variables() {
  static const std::vector<Variable> all = {
      {"n0", "int n0 = values.c2;\n", "n0"},
      {"n1", "int n1 = values.c3;\n", "n1 * 3"},
      {"h0", "half h0 = half(v0 & 15);\n", "bits(h0)"},
      {"h1", "half h1 = 2.0h;\n", "bits(h1)"},
      {"bf0", "bfloat bf0 = bfloat(float(v0 & 15));\n", "bits(bf0)"},
      {"bf1", "bfloat bf1 = bfloat(2.0f);\n", "bits(bf1)"},
      {"l0", "long l0 = long(v0) * 65537l;\n", "bits(l0)"},
      {"l1", "long l1 = long(u0);\n", "bits(l1)"},
      {"s0", "short s0 = short(v0);\n", "int(s0)"},
      {"w0", "uchar w0 = uchar(v1);\n", "int(w0) * 3"},
      {"g2", "float2 g2 = exactly(float2(f0, 1.0f));\n", "bits(g2)"},
      {"g3", "float3 g3 = exactly(float3(2.0f, f0, -1.0f));\n", "bits(g3)"},
      {"g4", "float4 g4 = exactly(float4(f0, 1.0f, f0 + 1.0f, 2.0f));\n", "bits(g4)"},
      {"q3", "int3 q3 = int3(v0, v1, 5);\n", "bits(q3)"},
      {"r4", "uint4 r4 = uint4(u0, u1, 2u, 3u);\n", "bits(r4)"},
      {"yc", "char3 yc = char3(char(v0), 1, char(v1));\n", "bits(yc)"},
      {"xb", "uchar4 xb = as_type<uchar4>(v0);\n", "bits(xb)"},
      {"zs", "short4 zs = short4(short(v1), 2, 3, short(u0));\n", "bits(zs)"},
      {"dh", "half4 dh = exactly(half4(half(v0 & 7), 1.0h, 2.0h, half(v1 & 3)));\n", "bits(dh)"},
      {"el", "long2 el = long2(long(v0) * 65539l, long(v1));\n", "bits(el)"},
      {"a", "int a[8] = {0, 1, 2, 3, v0, v1, 6, 7};\n", "a[v0 & 7] + a[3]"},
      {"b", "float b[5] = {0.0f, f0, 1.0f, 2.0f, 3.0f};\n", "bits(b[u0 % 5u])"},
      {"c", "float4 c[3] = {float4(1.0f), float4(exactly(f0)), float4(3.0f)};\n", "bits(c[u1 % 3u])"},
      {"grid_of", "int grid_of[4][3] = {{1, 2, 3}, {4, v0, 6}, {7, 8, v1}, {1, 1, 1}};\n", "grid_of[v1 & 3][1]"},
      {"pairs", "Pair pairs[3] = {{1, 2.0f, 3, 4}, {v0, 1.0f, 7, 8}, {v1, 0.0f, 1, 1}};\n",
       "pairs[u0 % 3u].x + bits(pairs[1].y) + int(pairs[2].z) + int(pairs[u1 % 3u].w)"},
      {"sa", "short sa[9] = {1, short(v0), 3, 4, short(v1)};\n", "int(sa[u0 % 9u])"},
      {"ba", "uchar ba[16] = {9, uchar(v1), 7, uchar(v0), 1, 2, 3};\n", "int(ba[u1 & 15u])"},
      {"la", "long la[3] = {long(v0), 2l, long(v1) * 65537l};\n", "bits(la[u0 % 3u])"},
      {"ha", "half ha[6] = {1.0h, 2.0h, half(v0 & 7)};\n", "bits(ha[u1 % 6u])"},
      {"ya", "char3 ya[4] = {char3(1), char3(char(v0), 2, 3), char3(2)};\n", "bits(ya[u0 & 3u])"},
      {"long_array", "int long_array[40] = {v0, v1, 5, 6, v0 ^ v1};\n", "long_array[u0 % 40u]"},
      {"mixed",
       "Mixed mixed[2] = {{1, {2, short(v0), 3}, half4(1.0h), long(v1)}, {char(v0), {1, 1, 1}, half4(2.0h), 3l}};\n",
       "int(mixed[u0 & 1u].b[u1 % 3u]) + bits(mixed[u1 & 1u].d) + bits(mixed[u0 & 1u].c)"},
      {"a8", "int a8[8] = {9, 8, 7, 6, v1, v0, 3, 2};\n", "a8[2]"},
      {"pointer", "thread int* pointer = a;\n", "pointer[v0 & 7]"},
      {"from", "device const int* from = in + i;\n", "from[1]"}};
  return all;
}

// Of the variables those that the text needs.
std::vector<const Variable*> needed(std::string text, const std::vector<Variable>& all) {
  std::vector<const Variable*> result;
  for (auto variable = all.rbegin(); variable != all.rend(); ++variable) {
    if (!mentions(text, variable->name)) continue;
    text += variable->declaration;
    result.insert(result.begin(), &*variable);
  }
  return result;
}

}  // namespace

// What comes before and behind the statements of a kernel or a function of its own.
Node Statements::around(Node statements) {
  Node result = make_.make("block", ""), end = make_.make("block", "");
  const auto add = [&](std::string line) { result.children.push_back(text(std::move(line))); };
  if (!scope_.in_helper && random_.one_in(2)) {
    const std::string function = random_.among({"sin", "exp", "log", "tanh", "rsqrt", "cos", "exp2", "log2", "atan"});
    end.children.push_back(
        text("if (@) loose[i] = " + function + "(exactly(@));\n", {make_.condition(1), make_.real(2)}));
  }
  const std::string used = statements.print() + end.print();
  if (scope_.has_threadgroup_memory && !scope_.in_helper) {
    const auto memory = needed(used, threadgroup_variables());
    for (const Variable* variable : memory) add(variable->declaration);
    if (!memory.empty()) add("threadgroup_barrier(mem_flags::mem_threadgroup);\n");
  }
  if (scope_.in_helper) {
    add("const uint i = u0 & 1023u; int v2 = v0 - v1, v3 = 7;\n");
    add("uint u1 = 3u; float f1 = 0.5f; bool p0 = v1 > 2;\n");
  } else {
    add("int v0 = in[i], v1 = int(i), v2 = 1, v3 = in[i + 1u];\n");
    add("uint u0 = uint(v3), u1 = i;\n");
    add("float f0 = in_float[i], f1 = 2.0f;\n");
    add("bool p0 = (v0 & 1) != 0;\n");
  }
  const auto own = needed(used, variables());
  for (const Variable* variable : own) {
    if (!scope_.has_pointer_arguments || variable->name != "from") add(variable->declaration);
  }
  result.children.push_back(std::move(statements));
  if (scope_.in_helper) return result;
  add("int h = 0;\n");
  for (const char* value : {"v0", "v1", "v2", "v3", "int(u0)", "int(u1)", "bits(f0)", "bits(f1)", "int(p0)"})
    add("h = h * 31 + " + std::string(value) + ";\n");
  for (const Variable* variable : own) add("h = h * 31 + " + variable->result + ";\n");
  result.children.push_back(std::move(end));
  add("out[i] = h;\n");
  return result;
}

Node Statements::kernel(unsigned statements) {
  change_here_ = random_.among({"add", "xor", "or", "and", "min", "max"});
  change_everywhere_ = random_.among({"add", "xor", "or", "and", "min", "max"});
  change_floats_ = random_.among({"add", "sub", "min", "max"});
  change_wide_ = random_.among({"min", "max"});
  const unsigned depth = scope_.is_skeleton ? 4 : random_.one_in(3) ? 3 : 2;
  return around(block(statements, depth, {.is_uniform = true}));
}

Node Statements::helper(unsigned number) {
  Node body = around(block(1 + random_.below(3), 2, {}));
  return text((random_.one_in(3) ? "__attribute__((noinline)) " : "") + std::string("static int helper_of_this_") +
                  std::to_string(number) +
                  "(int v0, uint u0, float f0) {\nint v1 = int(u0);\n@return v0 ^ v1 ^ v2 ^ v3 ^ int(u1) ^ bits(f1) ^ "
                  "bits(f0);\n}\n",
              {std::move(body)});
}

// One that is given pointers into each kind of memory.
Node Statements::pointer_helper() {
  Node body = around(block(1 + random_.below(3), 2, {}));
  return text(
      (random_.one_in(3) ? "__attribute__((noinline)) " : "") +
          std::string("static int pointers_of_this_0(thread int* mine, device const int* from, device int* own, "
                      "constant Pair* among, thread float& there, int v0, uint u0) {\n"
                      "int v1 = int(u0); float f0 = 1.0f;\n@return v0 ^ v1 ^ v2 ^ v3 ^ int(u1);\n}\n"),
      {std::move(body)});
}

namespace {

GeneratedKernel generate_of(std::uint64_t seed, std::uint64_t number) {
  Random random(number);
  GeneratedKernel kernel;
  kernel.dimensions = static_cast<Dimensions>(1 + random.below(3));
  Scope scope;
  scope.dimensions = kernel.dimensions;
  scope.has_safe_mathematics = kernel.has_safe_mathematics = seed / 16 % 2 == 0;  // of a library
  scope.is_skeleton = random.one_in(3);
  scope.has_halves = !scope.is_skeleton && random.one_in(3);
  scope.has_bfloats = !scope.is_skeleton && random.one_in(5);
  scope.has_longs = !scope.is_skeleton && random.one_in(3);
  scope.has_narrow = !scope.is_skeleton && random.one_in(3);
  scope.has_vectors = !scope.is_skeleton && random.one_in(3);
  scope.has_arrays = !scope.is_skeleton && random.one_in(2);
  scope.has_small_vectors = !scope.is_skeleton && random.one_in(3);
  scope.has_small_arrays = !scope.is_skeleton && random.one_in(3);
  scope.has_constants = random.one_in(4);
  scope.has_jumps = random.one_in(5);
  Node functions{"block", ""};
  Scope inner = scope;
  inner.in_helper = true;
  const unsigned helpers = random.one_in(5) ? 1 + random.below(2) : 0;
  for (unsigned h = 0; h < helpers; ++h) {
    functions.children.push_back(Statements(random, inner).helper(h));
    inner.helpers = h + 1;
  }
  if (!scope.is_skeleton && random.one_in(8)) {
    inner.has_pointer_arguments = true;
    functions.children.push_back(Statements(random, inner).pointer_helper());
    scope.has_pointer_helper = true;
  }
  scope.helpers = helpers;
  scope.has_pointers = scope.has_arrays && random.one_in(3);
  scope.has_own = !scope.is_skeleton && random.one_in(2);
  scope.has_own_places = !scope.is_skeleton && random.one_in(2);
  scope.has_uniforms = true;
  scope.has_threadgroup_memory = random.one_in(2);
  Node body = Statements(random, scope).kernel(1 + random.below(5));
  kernel.root = {"block", "", {std::move(functions), std::move(body)}};
  return kernel;
}

}  // namespace

// Large kernels take most of the time and find little more than small ones: most of those are not kept.
GeneratedKernel generate_kernel(std::uint64_t seed) {
  constexpr std::size_t large = 1800;  // characters
  const bool may_be_large = Random(seed).one_in(12);
  for (std::uint64_t number = seed;; number += std::uint64_t{1} << 40) {
    GeneratedKernel kernel = generate_of(seed, number);
    if (may_be_large || kernel.root.print().size() <= large) return kernel;
  }
}

}  // namespace metalloid::comparison
