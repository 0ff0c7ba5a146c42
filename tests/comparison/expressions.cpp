#include "expressions.h"

#include <array>
#include <utility>

namespace metalloid::comparison {

std::string Expressions::literal() {
  constexpr std::array<long, 18> values = {0,  1,  2,  3,   5,     7,     8,       31,         32,
                                           33, -1, -2, 255, 65536, 65535, 1 << 30, 2147483647, -2147483648};
  const long value = values[random_.below(values.size())];
  if (value == -2147483648) return "(-2147483647 - 1)";
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

Node Expressions::integer(unsigned depth) {
  if (depth == 0) {
    switch (random_.below(9)) {
      case 0: return make("int", literal());
      case 1: return make("int", "int(u" + number(2) + ")");
      case 2:
        if (!scope_.counters.empty())
          return make("int", scope_.counters[random_.below(static_cast<unsigned>(scope_.counters.size()))]);
        return make("int", "int(i)");
      case 3:
        return scope_.in_helper ? make("int", "v0")
                                : make("int", random_.among({"int(lane)", "int(i)", "int(t)", "int(simdgroup)"}));
      case 4:
        if (scope_.has_uniforms) return make("int", random_.among({"n0", "n1", "values.c0", "values.c1"}));
        [[fallthrough]];
      default: return make("int", "v" + number(4));
    }
  }
  const unsigned d = depth - 1;
  if (random_.one_in(5)) {
    switch (random_.below(6)) {
      case 0:
        if (scope_.has_small_vectors) return from_small_vector(d);
        break;
      case 1:
        if (scope_.has_small_arrays) return from_small_array(d);
        break;
      case 2:
        if (scope_.has_own_places) return from_own_place(d);
        break;
      case 3:
        if (scope_.has_pointer_arguments) return from_pointer_argument(d);
        break;
      case 4:
        if (!scope_.in_helper) return walked(d);
        break;
      default:
        if (scope_.has_constants)
          return make("int", random_.among({"chosen", "derived", "known", "int(chosen_count)", "(chosen_way ? @ : 1)"}),
                      {integer(d)});
    }
  }
  switch (random_.below(27)) {
    case 0:
    case 1: return make("int", "(@ " + random_.among({"+", "-", "*"}) + " @)", {integer(d), integer(d)});
    case 2: return make("int", "(@ " + random_.among({"/", "%"}) + " @)", {integer(d), integer(d)});
    case 3:
      return make("int", "(@ " + random_.among({"/", "%"}) + " " + random_.among({"3", "7", "8", "(-5)", "10"}) + ")",
                  {integer(d)});
    case 4: return make("int", "(@ " + random_.among({"<<", ">>"}) + " @)", {integer(d), integer(d)});
    case 5: return make("int", "(@ " + random_.among({"&", "|", "^"}) + " @)", {integer(d), integer(d)});
    case 6: return make("int", "(@ ? @ : @)", {condition(d), integer(d), integer(d)});
    case 7: return make("int", "select(@, @, @)", {integer(d), integer(d), condition(d)});
    case 8: return make("int", random_.among({"abs", "popcount", "clz", "ctz", "reverse_bits"}) + "(@)", {integer(d)});
    case 9:
      return make("int",
                  random_.among({"min", "max", "mulhi", "addsat", "subsat", "hadd", "rhadd", "rotate"}) + "(@, @)",
                  {integer(d), integer(d)});
    case 10:
      return make("int", random_.among({"clamp(@, -100, @ & 1023)", "mad24(@ & 4095, 77, @)", "madhi(@, 65537, @)"}),
                  {integer(d), integer(d)});
    case 11: return make("int", "extract_bits(@, @ & 15u, 1u + (@ & 15u))", {integer(d), natural(d), natural(0)});
    case 12:
      return make("int", "insert_bits(@, @, " + number(16) + "u, " + std::to_string(1 + random_.below(16)) + "u)",
                  {integer(d), integer(d)});
    case 13: return make("int", "int(@)", {natural(d)});
    case 14: return make("int", "int(@)", {real(d)});
    case 15: return narrow(d);
    case 16: return make("int", "bits(@)", {real(d)});
    case 17:
    case 18:
      if (scope_.has_arrays) {
        return make("int",
                    random_.among({"a[@ & 7]", "a[@ & 7]", "grid_of[@ & 3][2 - (@ & 1)]", "pairs[(@ & 1) + 1].x",
                                   "int(pairs[@ & 1].z)"}),
                    {integer(d), integer(0)});
      }
      return integer(d);
    case 19:
      if (scope_.has_longs) return make("int", "bits(@)", {wide_integer(d)});
      return integer(d);
    case 20:
      if (scope_.has_vectors) return make("int", "@." + random_.among({"x", "y", "z"}), {vector_of_integers(d)});
      return integer(d);
    case 21:
      if (scope_.has_own) {
        return make("int",
                    random_.among({"own_rows[i * 8u + (uint(@) & 7u)]", "own_columns[(uint(@) & 7u) * 1024u + i]",
                                   "own_rows[i * 8u + 2u]", "own_columns[3072u + i]",
                                   "int(own_bytes[i * 4u + (uint(@) & 3u)])"}),
                    {integer(d)});
      }
      return integer(d);
    case 22:
      if (scope_.has_pointers)
        return make("int", random_.among({"pointer[@ & 7]", "*(from + (@ & 3))", "from[1]"}), {integer(d)});
      return integer(d);
    case 23:
    case 24: return make("int", "table[@ & 15]", {integer(d)});
    default: return scope_.in_helper ? integer(d) : loaded_integer(d);
  }
}

Node Expressions::natural(unsigned depth) {
  if (depth == 0) return make("uint", random_.among({"u0", "u1", "i", "uint(v0)", "77u", "4294967295u"}));
  const unsigned d = depth - 1;
  switch (random_.below(9)) {
    case 0: return make("uint", "(@ " + random_.among({"<<", ">>"}) + " @)", {natural(d), natural(d)});
    case 1: return make("uint", "(@ " + random_.among({"/", "%"}) + " @)", {natural(d), natural(d)});
    case 2:
      return make("uint", "(@ " + random_.among({"/", "%"}) + " " + random_.among({"3u", "10u", "32u", "255u"}) + ")",
                  {natural(d)});
    case 3: return make("uint", "uint(@)", {real(d)});
    case 4:
      return make("uint", random_.among({"rotate", "min", "max", "mulhi", "absdiff"}) + "(@, @)",
                  {natural(d), natural(d)});
    case 5: return make("uint", "uint(@)", {integer(d)});
    case 6:
      if (scope_.has_vectors) return make("uint", "@[@ & 3u]", {vector_of_naturals(d), natural(0)});
      return natural(d);
    default:
      return make("uint", "(@ " + random_.among({"+", "-", "*", "&", "|", "^"}) + " @)", {natural(d), natural(d)});
  }
}

Node Expressions::exact(Node value) {
  if (scope_.has_safe_mathematics) return value;
  const std::string kind = value.kind;
  return make(kind, "exactly(@)", {std::move(value)});
}

Node Expressions::real(unsigned depth) {
  if (depth == 0) {
    if (random_.one_in(4)) return make("float", random_.among({"1.0f", "-2.0f", "0.0f", "3.0f"}));
    return make("float", "f" + number(2));
  }
  const unsigned d = depth - 1;
  switch (random_.below(16)) {
    case 0:
    case 1:
    case 2: return exact(make("float", "(@ " + random_.among({"+", "-", "*"}) + " @)", {real(d), real(d)}));
    case 3: return exact(make("float", "fma(@, @, @)", {real(d), real(0), real(d)}));
    case 4:
      return exact(
          make("float", random_.among({"floor", "ceil", "rint", "trunc", "fabs", "round"}) + "(@)", {real(d)}));
    case 5: return exact(make("float", "(" + random_.among({"fmin", "fmax"}) + "(@, @) + 0.0f)", {real(d), real(d)}));
    case 6:
      if (scope_.has_safe_mathematics)
        return make("float", random_.among({"(@ / @)", "sqrt(fabs(@) + fabs(@))"}), {real(d), real(d)});
      return real(d);
    case 7: return make("float", "(@ ? @ : @)", {condition(d), real(d), real(d)});
    case 8:
      if (scope_.has_halves) return make("float", "float(@)", {half(d)});
      return real(d);
    case 9:
      if (scope_.has_bfloats) return make("float", "float(@)", {bfloat(d)});
      return real(d);
    case 10: return exact(make("float", "float(@)", {integer(d)}));
    case 11: return exact(make("float", "float(@)", {natural(d)}));
    case 12:
      if (scope_.has_arrays) return make("float", random_.among({"b[@ % 5u]", "pairs[@ % 3u].y"}), {natural(d)});
      return real(d);
    case 13:
      if (scope_.has_vectors) {
        const unsigned size = 2 + random_.below(3);
        return make("float", "@[@ % " + std::to_string(size) + "u]", {vector_of_floats(size, d), natural(0)});
      }
      return real(d);
    default: return scope_.in_helper ? make("float", "colours[@ % 3u].z", {natural(d)}) : loaded_float(d);
  }
}

Node Expressions::half(unsigned depth) {
  if (depth == 0) return make("half", random_.among({"h0", "h1", "1.0h"}));
  const unsigned d = depth - 1;
  switch (random_.below(6)) {
    case 0: return exact(make("half", "half(@)", {real(d)}));
    case 1: return make("half", "(@ ? @ : @)", {condition(d), half(d), half(d)});
    case 2: return exact(make("half", "half(@)", {integer(d)}));
    case 3:
      if (scope_.has_own) return make("half", "own_halves[(uint(@) & 3u) * 1024u + i]", {integer(d)});
      return half(d);
    default: return exact(make("half", "(@ " + random_.among({"+", "-", "*"}) + " @)", {half(d), half(d)}));
  }
}

Node Expressions::bfloat(unsigned depth) {
  if (depth == 0) return make("bfloat", random_.among({"bf0", "bf1", "bfloat(1.0f)"}));
  const unsigned d = depth - 1;
  switch (random_.below(4)) {
    case 0: return exact(make("bfloat", "bfloat(@)", {real(d)}));
    case 1: return make("bfloat", "(@ ? @ : @)", {condition(d), bfloat(d), bfloat(d)});
    default: return exact(make("bfloat", "bfloat(@ " + random_.among({"+", "-", "*"}) + " @)", {bfloat(d), bfloat(d)}));
  }
}

Node Expressions::wide_integer(unsigned depth) {
  if (depth == 0) {
    if (scope_.has_longs && random_.one_in(2)) return make("long", random_.among({"l0", "l1"}));
    return make("long", random_.among({"long(v0)", "long(u0)", "4294967297l"}));
  }
  const unsigned d = depth - 1;
  switch (random_.below(8)) {
    case 0: return make("long", "(@ " + random_.among({"/", "%"}) + " @)", {wide_integer(d), wide_integer(d)});
    case 1: return make("long", "(@ " + random_.among({"<<", ">>"}) + " @)", {wide_integer(d), wide_integer(d)});
    case 2: return make("long", "long(@)", {integer(d)});
    case 3:
      return make("long", "long(ulong(@) " + random_.among({"/ 7ul", ">> 3", "% 1000ul", "* 3ul"}) + ")",
                  {wide_integer(d)});
    case 4: return make("long", "(@ ? @ : @)", {condition(d), wide_integer(d), wide_integer(d)});
    case 5: return make("long", random_.among({"min", "max"}) + "(@, @)", {wide_integer(d), wide_integer(d)});
    default:
      return make("long", "(@ " + random_.among({"+", "-", "*", "&", "^"}) + " @)", {wide_integer(d), wide_integer(d)});
  }
}

Node Expressions::narrow(unsigned depth) {
  const std::string type = random_.among({"short", "ushort", "char", "uchar"});
  if (depth == 0 && scope_.has_narrow) return make("int", "int(" + random_.among({"s0", "w0"}) + ")");
  switch (random_.below(5)) {
    case 0:
      return make(
          "int",
          "int(" + type + "(" + type + "(@) " + random_.among({"+", "*", "/", "%", "<<", ">>"}) + " " + type + "(@)))",
          {integer(depth), integer(depth)});
    case 1:
      return make("int",
                  "int(" + random_.among({"min", "max", "addsat", "subsat"}) + "(" + type + "(@), " + type + "(@)))",
                  {integer(depth), integer(depth)});
    case 2: return make("int", "int(popcount(" + type + "(@)))", {integer(depth)});
    case 3: return make("int", "int(" + type + "(@))", {real(depth)});
    default: return make("int", "int(" + type + "(@))", {integer(depth)});
  }
}

Node Expressions::vector_of_floats(unsigned size, unsigned depth) {
  const std::string type = "float" + std::to_string(size), variable = "g" + std::to_string(size);
  if (depth == 0) return make(type, variable);
  const unsigned d = depth - 1;
  const auto exactly = [&](std::string text, std::vector<Node> children) {
    return make(type, "exactly(" + text + ")", std::move(children));
  };
  switch (random_.below(7)) {
    case 0:
      return exactly("@ " + random_.among({"+", "-", "*"}) + " @",
                     {vector_of_floats(size, d), vector_of_floats(size, d)});
    case 1:
      return make(type, "@." + std::string(size == 2 ? "yx" : size == 3 ? "zxy" : "wzyx"), {vector_of_floats(size, d)});
    case 2: return exactly(type + "(@)", {real(d)});
    case 3:
      if (size == 2) return exactly("float2(@, @)", {real(d), real(d)});
      return exactly(type + "(@" + std::string(size == 4 ? ", 1.0f, @)" : ", @)"), {vector_of_floats(2, d), real(d)});
    case 4:
      return make(type, "select(@, @, @ > 0.0f)",
                  {vector_of_floats(size, d), vector_of_floats(size, d), vector_of_floats(size, 0)});
    case 5:
      if (size == 4 && scope_.has_own)
        return make(type, "own_vectors[(1023u - i) * 2u + (uint(@) & 1u)]", {integer(d)});
      if (size == 3 && scope_.has_own) return make(type, "float3(own_packed[i])");
      return vector_of_floats(size, d);
    default:
      if (scope_.has_arrays && size == 4) return make(type, "c[@ % 3u]", {natural(d)});
      return vector_of_floats(size, d);
  }
}

Node Expressions::vector_of_integers(unsigned depth) {
  if (depth == 0) return make("int3", "q3");
  const unsigned d = depth - 1;
  switch (random_.below(4)) {
    case 0: return make("int3", "int3(@, @, @)", {integer(d), integer(d), integer(0)});
    case 1: return make("int3", "@.yzx", {vector_of_integers(d)});
    case 2:
      return make("int3", "select(@, @, @ > 0)", {vector_of_integers(d), vector_of_integers(d), vector_of_integers(0)});
    default:
      return make("int3", "(@ " + random_.among({"+", "-", "*", "&", "/", "%"}) + " @)",
                  {vector_of_integers(d), vector_of_integers(d)});
  }
}

Node Expressions::vector_of_naturals(unsigned depth) {
  if (depth == 0) return make("uint4", "r4");
  const unsigned d = depth - 1;
  switch (random_.below(4)) {
    case 0: return make("uint4", "uint4(@, @, i, 3u)", {natural(d), natural(d)});
    case 1: return make("uint4", "@.wxzy", {vector_of_naturals(d)});
    case 2: return make("uint4", "uint4(int4(@))", {vector_of_floats(4, d)});
    default:
      return make("uint4", "(@ " + random_.among({"+", "*", "^", ">>"}) + " @)",
                  {vector_of_naturals(d), vector_of_naturals(d)});
  }
}

Node Expressions::condition(unsigned depth) {
  const unsigned d = depth == 0 ? 0 : depth - 1;
  switch (random_.below(depth == 0 ? 6 : 10)) {
    case 0: return make("bool", "(@ < @)", {integer(d), integer(d)});
    case 1: return make("bool", "((@ & " + random_.among({"1", "2", "3", "4"}) + ") != 0)", {integer(d)});
    case 2: return make("bool", "(@ % " + random_.among({"2", "3", "5"}) + "u == 0u)", {natural(d)});
    case 3:
      return make("bool", scope_.in_helper ? "(v0 > v1)"
                                           : random_.among({"(lane < 7u)", "(t % 3u == 1u)", "(i > 40u)",
                                                            "(lane == 31u)", "(lane >= 16u)"}));
    case 4: return make("bool", "p0");
    case 5: return make("bool", "(@ < @)", {real(d), real(d)});
    case 6: return make("bool", "(@ && @)", {condition(d), condition(d)});
    case 7: return make("bool", "(@ || @)", {condition(d), condition(d)});
    case 8: return make("bool", "!@", {condition(d)});
    default: return make("bool", "(@ == @)", {integer(d), integer(d)});
  }
}

Node Expressions::uniform(unsigned depth) {
  if (scope_.has_constants && random_.one_in(6))
    return make("uniform", random_.among({"chosen", "derived", "known", "int(chosen_count)"}));
  if (!scope_.has_uniforms) return make("uniform", literal());
  if (depth == 0)
    return make("uniform", random_.among({"n0", "n1", "values.c0", "values.c1", "values.c2", "group_number"}));
  const unsigned d = depth - 1;
  switch (random_.below(6)) {
    case 0: return make("uniform", literal());
    case 1: return make("uniform", "in[uint(@) & 1023u]", {uniform(d)});
    case 2: return make("uniform", "(@ " + random_.among({"/", "%"}) + " @)", {uniform(d), uniform(d)});
    case 3: return make("uniform", "(@ ? @ : @)", {uniform_condition(d), uniform(d), uniform(d)});
    default:
      return make("uniform", "(@ " + random_.among({"+", "-", "*", "^", ">>"}) + " @)", {uniform(d), uniform(d)});
  }
}

Node Expressions::uniform_condition(unsigned depth) {
  if (scope_.has_constants && random_.one_in(8)) return make("uniform bool", "chosen_way");
  if (random_.one_in(2))
    return make("uniform bool", "((@ & " + random_.among({"1", "2", "4"}) + ") != 0)", {uniform(depth)});
  return make("uniform bool", "(@ < @)", {uniform(depth), uniform(depth)});
}

}  // namespace metalloid::comparison
