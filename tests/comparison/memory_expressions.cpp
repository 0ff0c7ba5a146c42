// Expressions that read memory which all threads share and none writes.
#include "expressions.h"

namespace metalloid::comparison {

Node Expressions::index(unsigned depth) {
  const std::string step = std::to_string(1 + random_.below(60));
  const std::string small = std::to_string(2 + random_.below(4));
  if (random_.one_in(5)) {
    if (scope_.dimensions == Dimensions::one) return make("index", random_.among({"gx", "lx + 7u", "gx * 4u"}));
    return make("index", random_.among({"gx * 32u + gy", "gy * 64u + gx", "ly * 32u + lx", "lx * 32u + ly", "gx", "gy",
                                        "gz * 9u + gy", "ly", "lx"}));
  }
  switch (random_.below(depth == 0 ? 16 : 20)) {
    case 0: return make("index", "i");
    case 1: return make("index", "i + " + step + "u");
    case 2: return make("index", "2047u - i");
    case 3: return make("index", "i * 3u + " + number(3) + "u");
    case 4: return make("index", "i * 2u");
    case 5: return make("index", "i / " + small + "u");
    case 6: return make("index", "i % " + small + "u");
    case 7: return make("index", "i ^ " + step + "u");
    case 8: return make("index", "(i - " + step + "u) & 2047u");
    case 9:
      return make("index", random_.among({"t", "lane", "t * 2u + 1u", "lane * 4u", "31u - lane", "lane / 4u",
                                          "lane & 7u", "i >> 3u", "(i & 7u) * 16u + i / 8u", "t / 8u * 8u", "i & 15u",
                                          "lane / 2u + lane % 2u * 16u"}));
    case 10: return make("index", "uint(max(int(i) - " + step + ", 0))");
    case 11: return make("index", "int(i) + " + step + " - 1");
    case 12: return make("index", "ushort(i + " + step + "u)");
    case 13: return make("index", "ulong(i) * 2ul");
    case 14: return make("index", "(i + " + step + "u) % 37u");
    case 15: return make("index", "(i & ~31u) + (lane ^ " + number(32) + "u)");
    case 16: return make("index", "uint(@) & 2047u", {uniform(depth - 1)});
    case 17: return make("index", "i + (uint(@) & 1023u)", {uniform(depth - 1)});
    default: return make("index", "uint(@) & 2047u", {integer(depth - 1)});
  }
}

Node Expressions::loaded_integer(unsigned depth) {
  const std::string step = std::to_string(1 + random_.below(40));
  switch (random_.below(16)) {
    case 0:
    case 1: return make("int", "(i >= " + step + "u ? in[i - " + step + "u] : @)", {integer(depth)});
    case 2: return make("int", "(int(i) > " + step + " ? in[int(i) - " + step + "] : @)", {integer(depth)});
    case 3: return make("int", "(i * 3u >= " + step + "u ? in[i * 3u - " + step + "u] : @)", {integer(depth)});
    case 4: return make("int", "(i <= " + step + "u ? in[" + step + "u - i] : @)", {integer(depth)});
    case 5: return make("int", "(lx > 0u && ly > 0u ? in[(ly - 1u) * 32u + lx - 1u] : @)", {integer(depth)});
    case 6:
      return make("int", random_.among({"in_pairs[@].x", "int(in_pairs[@].z)", "int(in_pairs[@].w)"}), {index(depth)});
    case 7: return make("int", "int(in_bytes[@])", {index(depth)});
    case 8:
      return make("int",
                  "int(((device const uchar4*)in_bytes)[" + random_.among({"i", "lane", "i / 2u", "uint(@) & 1023u"}) +
                      "]." + random_.among({"x", "z", "w"}) + ")",
                  {integer(depth)});
    case 9:
      return make("int",
                  "int(((device const short4*)in)[" + random_.among({"i", "i + 3u", "uint(@) & 1023u"}) + "]." +
                      random_.among({"x", "y", "w"}) + ")",
                  {integer(depth)});
    case 10:
      return make("int", "bits(((device const long*)in)[" + random_.among({"i", "2047u - i", "uint(@) & 2047u"}) + "])",
                  {integer(depth)});
    case 11:
      return make("int", "int(((device const " + random_.among({"short", "ushort", "char"}) + "*)in)[@])",
                  {index(depth)});
    case 12:
      return make("int", "int(((device const " + random_.among({"short", "uchar", "char", "half"}) + "*)" +
                             random_.among({"in_halves", "in_halves", "in_pairs"}) + ")[i * " +
                             random_.among({"3u", "2u", "1u"}) + " + " + number(7) + "u])");
    default: return make("int", "in[@]", {index(depth)});
  }
}

// By functions of any kind of pointer.
Node Expressions::walked(unsigned depth) {
  switch (random_.below(5)) {
    case 0: return make("int", "walk(in + (@), @)", {index(depth), integer(depth)});
    case 1: return make("int", "walk(in_bytes + (@), @)", {index(depth), integer(depth)});
    case 2: return make("int", "walk(table + (@ & 7), @)", {integer(depth), integer(0)});
    case 3:
      return make("int", "search(in + (@), in + (@) + (@ & 15), @)",
                  {make("index", "i"), make("index", "i"), integer(depth), integer(0)});
    default:
      return make("int",
                  random_.among({"constant_pairs[@ & 63].x", "int(constant_pairs[i & 63u].w)",
                                 "int(constant_pairs[lane & 7u].z)"}),
                  {integer(depth)});
  }
}

Node Expressions::loaded_float(unsigned depth) {
  switch (random_.below(8)) {
    case 0:
      return make("float",
                  "((device const float4*)in_float)[" +
                      random_.among({"i", "i + 5u", "i / 2u", "lane", "i * 2u", "1023u - i", "uint(@) & 1023u"}) +
                      "]." + random_.among({"x", "y", "z", "w"}),
                  {integer(depth)});
    case 1:
      return make("float",
                  "((device const packed_float3*)in_float)[" + random_.among({"i", "i + 5u", "uint(@) & 1023u"}) +
                      "]." + random_.among({"x", "y", "z"}),
                  {integer(depth)});
    case 2: return make("float", "((device const float2*)in_float)[@]." + random_.among({"x", "y"}), {index(depth)});
    case 3:
      return make(
          "float",
          "float(((device const packed_half4*)in_halves)[" + random_.among({"i", "i / 3u", "uint(@) & 1023u"}) + "].y)",
          {integer(depth)});
    case 4: return make("float", "float(in_halves[@])", {index(depth)});
    case 5: return make("float", "in_pairs[@].y", {index(depth)});
    case 6: return make("float", "colours[@ % 3u].y", {natural(depth)});
    default: return make("float", "in_float[@]", {index(depth)});
  }
}

}  // namespace metalloid::comparison
