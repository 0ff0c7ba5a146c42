#include "kernel_generator.h"

#include <array>
#include <string_view>

namespace metalloid::fuzz {
namespace {

class Generator {
 public:
  explicit Generator(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  GeneratedKernel run() {
    GeneratedKernel kernel;
    kernel.threads = std::array{1u, 32u, 40u, 64u}[pick(4)];
    kernel.group = std::array{1u, 32u, 40u, 64u}[pick(4)];
    for (int i = 0; i < 3; ++i) kernel.constants.push_back(interesting());
    kernel.c3 = std::array{0.0, 1.0, -1.5, 1e30, 0.1, -1e10, 65504.0, 3e-5}[pick(8)];
    const unsigned helpers = pick(3);
    for (; helpers_ < helpers;) {
      const bool keeps = pick(2) != 0;
      line(std::string(keeps ? "__attribute__((noinline)) " : "") + "int helper" + std::to_string(helpers_) +
           "(int v0, int v1) {");
      line("int v2 = v0 - v1, v3 = 7; uint u0 = uint(v1), u1 = 3u; float f0 = float(v0), f1 = 0.5f; long l0 = v0;");
      line("int a[8] = {v0, v1, 1, 2, 3, 4, 5, 6};");
      block(1 + pick(3), 2, false, false);
      line("return v0 ^ v1 ^ int(u0) ^ a[v2 & 7] ^ int(l0);\n}");
      ++helpers_;
    }
    line("kernel void generated(device int* out, device const int* in, uint i [[thread_position_in_grid]],");
    line("                      uint t [[thread_index_in_threadgroup]]) {");
    line("threadgroup int shared[64];");
    line(
        "int v0 = in[i], v1 = int(i), v2 = 1, v3 = -1; uint u0 = uint(in[i + 1]), u1 = i; float f0 = float(v0), f1 = "
        "2.5f;");
    line("long l0 = long(v0) * 65537;");
    line("int a[8] = {0, 1, 2, 3, v0, v1, 6, 7};");
    block(2 + pick(6), 3, true, false);
    line("f0 += f1;");
    line("out[i] = c2 ^ v0 ^ (v1 * 3) ^ (v2 * 5) ^ (v3 * 7) ^ int(u0 + u1) ^ int(l0) ^ int(l0 >> 32) ^ a[v0 & 7] ^");
    line("         (isnan(f0) ? 1 : as_type<int>(f0));\n}");
    kernel.text = std::move(text_);
    return kernel;
  }

 private:
  unsigned pick(unsigned bound) {
    if (bytes_.empty()) return 0;
    const unsigned value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value % bound;
  }
  bool ended() const { return bytes_.empty(); }
  void line(const std::string& text) { text_ += text + "\n"; }

  std::int64_t interesting() {
    constexpr std::array<std::int64_t, 16> values = {0,  1,   -1, 2,   31,    32,      33,         64,
                                                     -2, 255, 7,  100, 65536, 1 << 30, 2147483647, -2147483648LL};
    return values[pick(values.size())];
  }
  static std::string literal(std::int64_t value) {
    if (value == -2147483648LL) return "(-2147483647 - 1)";
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }
  std::string number(const char* prefix, unsigned count) { return prefix + std::to_string(pick(count)); }

  // No text begins with a cast in parentheses of its own: (int(float(half(x)))) is a type in C++.
  std::string integer(unsigned depth) {
    if (depth == 0 || ended()) {
      switch (pick(5)) {
        case 0: return literal(interesting());
        case 1: return number("c", 3);
        case 2: return "int(" + number("u", 2) + ")";
        default: return number("v", 4);
      }
    }
    const unsigned d = depth - 1;
    switch (pick(20)) {
      case 0: return binary("+", d);
      case 1: return binary("-", d);
      case 2: return binary("*", d);
      case 3: return binary("/", d);
      case 4: return binary("%", d);
      case 5: return binary("<<", d);
      case 6: return binary(">>", d);
      case 7: return binary("&", d);
      case 8: return binary("^", d);
      case 9: return "(" + condition(d) + " ? " + integer(d) + " : " + integer(d) + ")";
      case 10: return "a[7 & " + integer(d) + "]";
      case 11: return "int(" + unsigned_integer(d) + ")";
      case 12: return "int(" + real(d) + ")";
      case 13: {
        constexpr std::array<std::string_view, 4> functions = {"abs", "popcount", "clz", "ctz"};
        if (pick(5) == 0) return "(-1 ^ " + integer(d) + ")";
        return std::string(functions[pick(functions.size())]) + "(" + integer(d) + ")";
      }
      case 14: {
        constexpr std::array<std::string_view, 6> functions = {"min", "max", "mulhi", "addsat", "subsat", "hadd"};
        return std::string(functions[pick(functions.size())]) + "(" + integer(d) + ", " + integer(d) + ")";
      }
      case 15: return "int4(" + integer(d) + ", v0, v1, 9)." + std::string(1, "xyzw"[pick(4)]);
      case 16: {
        constexpr std::array<std::string_view, 6> types = {"short", "ushort", "char", "uchar", "bool", "long"};
        return "int(" + std::string(types[pick(types.size())]) + "(" + integer(d) + "))";
      }
      case 17: return "int(l0 " + std::string(1, "+-*^"[pick(4)]) + " " + integer(d) + ")";
      case 18:
        if (helpers_ == 0) return integer(d);
        return number("helper", helpers_) + "(" + integer(d) + ", " + integer(d) + ")";
      default: return integer(0);
    }
  }
  std::string binary(const char* operation, unsigned depth) {
    return "(" + integer(depth) + " " + operation + " " + integer(depth) + ")";
  }
  std::string unsigned_integer(unsigned depth) {
    if (depth == 0 || ended()) return pick(2) ? number("u", 2) : "uint(" + number("c", 3) + ")";
    const unsigned d = depth - 1;
    switch (pick(8)) {
      case 0: return "(" + unsigned_integer(d) + " << " + unsigned_integer(d) + ")";
      case 1: return "(" + unsigned_integer(d) + " >> " + integer(d) + ")";
      case 2: return "(" + unsigned_integer(d) + " / " + unsigned_integer(d) + ")";
      case 3: return "(" + unsigned_integer(d) + " % " + unsigned_integer(d) + ")";
      case 4: return "uint(" + real(d) + ")";
      case 5: return "rotate(" + unsigned_integer(d) + ", " + unsigned_integer(d) + ")";
      case 6: return "((1u << uint(" + integer(d) + ")) - 1u)";
      default: return "(" + unsigned_integer(d) + " * " + unsigned_integer(d) + ")";
    }
  }
  std::string real(unsigned depth) {
    if (depth == 0 || ended()) return pick(3) ? number("f", 2) : std::string("c3");
    const unsigned d = depth - 1;
    switch (pick(8)) {
      case 0: return "(" + real(d) + " + " + real(d) + ")";
      case 1: return "(" + real(d) + " * " + real(d) + ")";
      case 2: return "(" + real(d) + " - " + real(d) + ")";
      case 3: return "floor(" + real(d) + ")";
      case 4: return "fma(" + real(d) + ", " + real(d) + ", 1.0f)";
      case 5: return "float(half(" + real(d) + "))";
      case 6: return "fmin(" + real(d) + ", 1e9f)";
      default: return "float(" + integer(d) + ")";
    }
  }
  std::string condition(unsigned depth) {
    switch (pick(5)) {
      case 0: return "(" + integer(depth) + " < " + integer(depth) + ")";
      case 1: return "(" + integer(depth) + " == " + integer(depth) + ")";
      case 2: return "(" + unsigned_integer(depth) + " >= " + unsigned_integer(depth) + ")";
      case 3: return "(" + real(depth) + " < " + real(depth) + ")";
      default: return "((" + integer(depth) + " & 1) != 0)";
    }
  }

  // `uniform`: all threads come here, so they may meet.
  void block(unsigned statements, unsigned depth, bool uniform, bool in_loop) {
    for (unsigned s = 0; s < statements && !ended(); ++s) statement(depth, uniform, in_loop);
  }
  void nested(unsigned depth, bool uniform, bool in_loop) {
    line("{");
    block(1 + pick(3), depth - 1, uniform, in_loop);
    line("}");
  }
  void statement(unsigned depth, bool uniform, bool in_loop) {
    const std::string name = std::to_string(names_++);
    switch (pick(depth == 0 ? 8 : 15)) {
      case 0: return line(number("v", 4) + " = " + integer(3) + ";");
      case 1: return line(number("v", 4) + " ^= " + integer(2) + ";");
      case 2: return line(number("u", 2) + " = " + unsigned_integer(2) + ";");
      case 3: return line(number("f", 2) + " = " + real(2) + ";");
      case 4: return line("a[7 & " + integer(2) + "] = " + integer(2) + ";");
      case 5: return line("l0 = l0 * 31 + " + integer(2) + ";");
      case 6:
        if (!in_loop) return line("v1 += 1;");
        return line("if (" + condition(1) + ") " + (pick(2) ? "break;" : "continue;"));
      case 7: return uniform ? meeting() : meeting_of_lanes();
      case 8:
      case 9:
        line("if (" + condition(2) + ")");
        nested(depth, false, in_loop);
        if (pick(2)) {
          line("else");
          nested(depth, false, in_loop);
        }
        return;
      case 10:
      case 11: {
        const std::string k = "k" + name;
        line("for (int " + k + " = 0; " + k + " < " + std::to_string(1 + pick(8)) + "; ++" + k + ")");
        // Threads that leave the loop early would miss the others.
        return nested(depth, false, true);
      }
      case 12: {
        const std::string k = "w" + name;
        line("int " + k + " = 0; while (" + k + "++ < " + std::to_string(pick(6)) + " && " + condition(1) + ")");
        return nested(depth, false, true);
      }
      case 13: {
        line("switch (" + integer(2) + ") {");
        const unsigned cases = 1 + pick(4);
        for (unsigned c = 0; c < cases; ++c) {
          line("case " + std::to_string(c) + ":");
          nested(depth, false, false);
          if (pick(2)) line("break;");
        }
        line("default:");
        nested(depth, false, false);
        return line("}");
      }
      default: {
        const std::string k = "m" + name;
        line("for (int " + k + " = 0; " + k + " < " + std::to_string(1 + pick(4)) + "; ++" + k + ") {");
        if (uniform) meeting();
        line("v0 += " + k + ";\n}");
        return;
      }
    }
  }
  void meeting() {
    if (pick(5) != 0) return meeting_of_lanes();
    line("threadgroup_barrier(mem_flags::mem_threadgroup); shared[t] = " + integer(1) + ";");
    line("threadgroup_barrier(mem_flags::mem_threadgroup); v1 ^= shared[t / 2];");
  }
  // Those that are here take part.
  void meeting_of_lanes() {
    switch (pick(4)) {
      case 0: return line("v2 = simd_sum(" + integer(2) + ");");
      case 1: return line("v3 = simd_shuffle_xor(" + integer(2) + ", ushort(" + std::to_string(1u << pick(5)) + "));");
      case 2: return line("u0 = simd_max(" + unsigned_integer(2) + ");");
      default: return line("v0 = simd_prefix_inclusive_sum(" + integer(1) + ");");
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::string text_;
  unsigned helpers_ = 0, names_ = 0;
};

}  // namespace

GeneratedKernel generate(std::span<const std::uint8_t> bytes) { return Generator(bytes).run(); }

}  // namespace metalloid::fuzz
