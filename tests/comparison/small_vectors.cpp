// Vectors whose elements have other sizes than 32 bits, and variables of each lane made of such elements.
#include <array>

#include "expressions.h"

namespace metalloid::comparison {

const VectorType& Expressions::small_vector_type() {
  static const std::array<VectorType, 5> types = {
      {{"char3", "char", "yc", "zxy", "(device const packed_char3*)in_bytes", 3},
       {"uchar4", "uchar", "xb", "wzyx", "(device const uchar4*)in_bytes", 4},
       {"short4", "short", "zs", "yxwz", "(device const short4*)in", 4},
       {"half4", "half", "dh", "zwxy", "(device const half4*)in_halves", 4},
       {"long2", "long", "el", "yx", "(device const long2*)in", 2}}};
  return types[random_.below(types.size())];
}

Node Expressions::small_vector(const VectorType& type, unsigned depth) {
  const std::string name = type.name, element = type.element;
  if (depth == 0) return make(name, type.variable);
  const unsigned d = depth - 1;
  const bool is_half = element == "half";
  const auto scalar = [&](unsigned e) { return is_half ? exact(make("half", "half(@)", {integer(e)})) : integer(e); };
  switch (random_.below(8)) {
    case 0: return make(name, "@." + std::string(type.order), {small_vector(type, d)});
    case 1: return make(name, name + "(" + element + "(@))", {scalar(d)});
    case 2: {
      std::vector<Node> children;
      std::string text;
      for (unsigned k = 0; k < type.size; ++k) {
        text += (k == 0 ? "" : ", ") + element + "(@)";
        children.push_back(scalar(k == 0 ? d : 0));
      }
      Node value = make(name, name + "(" + text + ")", std::move(children));
      return is_half ? exact(std::move(value)) : value;
    }
    case 3:
      return make(name, "select(@, @, @ > " + name + "(" + random_.among({"0", "1", "3"}) + "))",
                  {small_vector(type, d), small_vector(type, d), small_vector(type, 0)});
    case 4:
      return make(name, random_.among({"min", "max"}) + std::string("(@, @)"),
                  {small_vector(type, d), small_vector(type, d)});
    case 5:
      if (!scope_.in_helper) {
        return make(name,
                    name + "((" + type.load + ")[" +
                        random_.among({"i", "i + 3u", "lane", "uint(@) & 1023u", "1023u - i"}) + "])",
                    {integer(d)});
      }
      return small_vector(type, d);
    case 6:
      if (element == "uchar") return make(name, "as_type<uchar4>(@)", {integer(d)});
      if (element == "short") return make(name, "as_type<short4>(@)", {make("long", "long(@)", {integer(d)})});
      if (element == "long") return make(name, "(long2(@) * 65539l)", {make("int", "int2(v0, @)", {integer(d)})});
      [[fallthrough]];
    default: {
      const std::string operation =
          is_half ? random_.among({"+", "-", "*"}) : random_.among({"+", "-", "*", "&", "|", "^", "/", ">>"});
      Node value = make(name, "(@ " + operation + " @)", {small_vector(type, d), small_vector(type, d)});
      return is_half ? exact(std::move(value)) : value;
    }
  }
}

Node Expressions::from_small_vector(unsigned depth) {
  const VectorType& type = small_vector_type();
  switch (random_.below(4)) {
    case 0: return make("int", "bits(@)", {small_vector(type, depth)});
    case 1:
      return make("int", "int(@[@ % " + std::to_string(type.size) + "u])", {small_vector(type, depth), natural(0)});
    case 2:
      return make("int", "int(" + random_.among({"any", "all"}) + "(@ == @))",
                  {small_vector(type, depth), small_vector(type, 0)});
    default: return make("int", "int(@." + random_.among({"x", "y"}) + ")", {small_vector(type, depth)});
  }
}

Node Expressions::from_small_array(unsigned depth) {
  return make("int",
              random_.among({"int(sa[@ % 9u])", "int(ba[@ & 15u])", "bits(la[@ % 3u])", "int(ha[@ % 6u])",
                             "int(ya[@ & 3u].y)", "int(mixed[@ & 1u].a)", "int(mixed[1].b[@ % 3u])",
                             "bits(mixed[@ & 1u].c)", "bits(mixed[@ & 1u].d)", "int(ba[5])", "long_array[@ % 40u]"}),
              {natural(depth)});
}

// What only this thread has, in memory of the device and of the threadgroup.
Node Expressions::from_own_place(unsigned depth) {
  if (scope_.has_threadgroup_memory && random_.one_in(3)) {
    return make("int",
                random_.among({"slots[(uint(@) & 1u) * 1024u + t]", "slots[t]", "dynamic[t * 2u + (uint(@) & 1u)]",
                               "walk(dynamic + t * 2u, @ & 1)"}),
                {integer(depth)});
  }
  return make(
      "int",
      random_.among({"int(own_shorts[i * 5u + uint(@) % 5u])", "int(own_shorts[i * 3u + 1024u * 5u])",
                     "int(own_mixed[i].a)", "int(own_mixed[i].b[uint(@) % 3u])", "bits(own_mixed[i].d)",
                     "bits(half4(own_mixed[i].c))", "atomic_load_explicit(&own_atomics[i], memory_order_relaxed)"}),
      {integer(depth)});
}

Node Expressions::from_pointer_argument(unsigned depth) {
  return make("int",
              random_.among({"mine[@ & 7]", "from[@ & 7]", "own[@ & 7]", "among[@ & 3].x", "int(among[@ & 7].z)",
                             "walk(from, @)", "walk(mine, @)", "search(from, from + (@ & 7), v0)"}),
              {integer(depth)});
}

}  // namespace metalloid::comparison
