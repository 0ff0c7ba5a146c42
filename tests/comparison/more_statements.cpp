// Statements about variables of small elements, about places that only one thread has, and about pointers.
#include <utility>

#include "statements.h"

namespace metalloid::comparison {

Node Statements::set_small() {
  if (scope_.has_small_vectors && (!scope_.has_small_arrays || random_.one_in(2))) {
    const VectorType& type = make_.small_vector_type();
    const std::string variable = type.variable;
    switch (random_.below(5)) {
      case 0:
        if (std::string(type.element) == "half") break;
        return text(variable + "[@ % " + std::to_string(type.size) + "u] = " + type.element + "(@);\n",
                    {make_.natural(1), make_.integer(1)});
      case 1: return text(variable + ".yx = @.xy;\n", {make_.small_vector(type, 1)});
      default: break;
    }
    return text(variable + " = @;\n", {make_.small_vector(type, 2)});
  }
  if (!scope_.has_small_arrays) return assignment();
  switch (random_.below(10)) {
    case 0: return text("ba[@ & 15u] = uchar(@);\n", {make_.natural(1), make_.integer(1)});
    case 1: return text("la[@ % 3u] = @;\n", {make_.natural(1), make_.wide_integer(1)});
    case 2:
      return text("ha[@ % 6u] = @;\n",
                  {make_.natural(1), make_.exact(make_.make("half", "half(@)", {make_.integer(1)}))});
    case 3: return text("ya[@ & 3u].y = char(@);\n", {make_.natural(1), make_.integer(1)});
    case 4:
      return text("mixed[@ & 1u].b[@ % 3u] = short(@);\n", {make_.natural(1), make_.natural(1), make_.integer(1)});
    case 5: return text("mixed[@ & 1u] = mixed[@ & 1u];\n", {make_.natural(1), make_.natural(1)});
    case 6: return text("mixed[" + make_.number(2) + "].d = @;\n", {make_.wide_integer(1)});
    case 7: return text("long_array[@ % 40u] = @;\n", {make_.natural(1), make_.integer(1)});
    case 8: return text("ya[@ & 3u] = char3(char(@), 1, char(v0));\n", {make_.natural(1), make_.integer(1)});
    default: return text("sa[@ % 9u] = short(@);\n", {make_.natural(1), make_.integer(1)});
  }
}

Node Statements::set_own_place() {
  const std::string order = ", memory_order_relaxed)";
  if (scope_.has_threadgroup_memory && random_.one_in(3)) {
    return text(random_.among({"slots[(uint(@) & 1u) * 1024u + t] = @;\n", "slots[t] = @ + 0 * @;\n",
                               "dynamic[t * 2u + (uint(@) & 1u)] = @;\n"}),
                {make_.integer(1), make_.integer(1)});
  }
  switch (random_.below(12)) {
    case 0: return text("own_shorts[i * 5u + uint(@) % 5u] = short(@);\n", {make_.integer(1), make_.integer(1)});
    case 1: return text("own_shorts[i * 3u + 1024u * 5u] = short(@);\n", {make_.integer(1)});
    case 2: return text("own_mixed[i].a = char(@);\n", {make_.integer(1)});
    case 3: return text("own_mixed[i].b[uint(@) % 3u] = short(@);\n", {make_.integer(1), make_.integer(1)});
    case 4: return text("own_mixed[i].d = @;\n", {make_.wide_integer(1)});
    case 5: return text("own_mixed[i].c." + random_.among({"x", "w"}) + " = half(@ & 63);\n", {make_.integer(1)});
    case 6:
      return text(target() + " = atomic_fetch_" + random_.among({"add", "sub", "xor", "or", "and", "min", "max"}) +
                      "_explicit(&own_atomics[i], @" + order + ";\n",
                  {make_.integer(1)});
    case 7:
      return text(target() + " = atomic_exchange_explicit(&own_atomics[i], @" + order + ";\n", {make_.integer(1)});
    case 8:
      return text("p0 = atomic_compare_exchange_strong_explicit(&own_atomics[i], &" + target() +
                      ", @, memory_order_relaxed" + order + ";\n",
                  {make_.integer(1)});
    case 9: return text("atomic_store_explicit(&own_atomics[i], @" + order + ";\n", {make_.integer(1)});
    case 10:
      return text("atomic_fetch_" + change_floats_ + "_explicit(&float_atomics[@ & 15], whole(@)" + order + ";\n",
                  {make_.integer(1), make_.real(1)});
    default:
      return text("atomic_" + change_wide_ + "_explicit(&wide_atomics[@ & 7], ulong(@)" + order + ";\n",
                  {make_.integer(1), make_.wide_integer(1)});
  }
}

Node Statements::through_pointers() {
  if (scope_.has_pointer_arguments) {
    return text(
        random_.among({"mine[@ & 7] = @;\n", "own[@ & 7] = @;\n", "there += float(@ & 3) + 0.0f * float(@ & 1);\n"}),
        {make_.integer(1), make_.integer(1)});
  }
  const auto variable = [&] {
    return scope_.has_arrays && random_.one_in(2) ? std::string("a[") + make_.number(8) + "]" : target();
  };
  if (scope_.in_helper || random_.one_in(4)) {
    std::string first = variable(), second = variable();
    return text("bump(" + first + ", " + second + ", @);\n", {make_.integer(1)});
  }
  const std::string at = "at" + std::to_string(names_++);
  if (scope_.has_pointer_helper && random_.one_in(2)) {
    return text(
        "{ float there = 1.0f; int room[8] = {1, v0, v1}; " + target() + " = pointers_of_this_0(" +
            (scope_.has_arrays ? "@ ? a : room" : "@ ? room : room") +
            ", @ ? in + (uint(@) & 2047u) : own_rows + i * 8u, own_rows + i * 8u, constant_pairs + (uint(@) & 31u), "
            "there, @, @);\nf1 = exactly(there); v1 ^= room[3]; }\n",
        {make_.condition(1), make_.condition(1), make_.integer(1), make_.integer(1), make_.integer(1),
         make_.natural(1)});
  }
  return text("for (device const int* " + at + " = in + (@); " + at + " < in + " +
                  random_.among({"i + 9u", "40u", "90u"}) + " && @; " + at +
                  " += " + random_.among({"5", "64", "1 + (v0 & 3)"}) + ") {\nif (*" + at + " == @) break;\n" +
                  target() + " += *" + at + ";\nif (" + at + " > in + i + 600u) break; }\n",
              {make_.index(0), make_.condition(1), make_.integer(0)});
}

// Jumps into a loop's body. No lanes meet in it: the language does not say who would.
Node Statements::jump_into_loop(unsigned depth, Place place) {
  const std::string k = "k" + std::to_string(names_++);
  const bool was_alone = std::exchange(scope_.is_alone, true);
  place = {.in_loop = true, .in_switch = true, .loops = place.loops + 1};
  Node choice = make_.integer(1), first = nested(depth, place), second = nested(depth, place),
       third = nested(depth, place);
  Node condition = make_.condition(1);
  scope_.is_alone = was_alone;
  return text("{ int " + k + " = 0; switch (@ & 3) {\ncase 0: do {\n{ @}\ncase 1: { @}\ncase 2: { @}\n} while (" + k +
                  "++ < 4 && @); } }\n",
              {std::move(choice), std::move(first), std::move(second), std::move(third), std::move(condition)});
}

// By counters of other types, and by as many threads as there are.
Node Statements::striding_loop(unsigned depth, Place place) {
  const std::string k = "k" + std::to_string(names_++);
  scope_.counters.push_back("int(" + k + ")");
  Node body = nested(depth, {.in_loop = true, .loops = place.loops + 1});
  scope_.counters.pop_back();
  switch (place.loops == 0 ? random_.below(6) : random_.below(3)) {
    case 0: return text("for (uchar " + k + " = 250; " + k + " > 4; ++" + k + ") {\n@}\n", {std::move(body)});
    case 1:
      return text("for (short " + k + " = short(@ & 3); " + k + " < 5; " + k + " += 2) {\n@}\n",
                  {make_.integer(1), std::move(body)});
    case 2: return text("for (ulong " + k + " = 3ul; " + k + "-- > 0ul;) {\n@}\n", {std::move(body)});
    case 3:
      if (!scope_.in_helper)
        return text("for (uint " + k + " = t; " + k + " < 3u * threads - 1u; " + k + " += threads) {\n@}\n",
                    {std::move(body)});
      [[fallthrough]];
    case 4:
      return text("for (uint " + k + " = i & 31u; " + k + " < 40u; " + k +
                      " += " + random_.among({"7u", "16u", "32u"}) + ") {\n@}\n",
                  {std::move(body)});
    default:
      return text("for (uint " + k + " = 1u << (uint(@) & 7u); " + k + " > 0u; " + k + " >>= 1) {\n@}\n",
                  {make_.integer(1), std::move(body)});
  }
}

Node Statements::across_lanes_small() {
  if (scope_.has_small_vectors) {
    const VectorType& type = make_.small_vector_type();
    const std::string name = type.variable, element = type.element;
    if (element == "long" || random_.one_in(2)) {
      return text(name + " = " +
                      random_.among({"simd_shuffle(@, ushort(v0 & 31))", "simd_shuffle_xor(@, ushort(3))",
                                     "simd_broadcast(@, ushort(4))", "simd_shuffle_down(@, ushort(1))",
                                     "quad_shuffle_xor(@, ushort(1))", "quad_broadcast(@, ushort(2))",
                                     "simd_shuffle_rotate_up(@, ushort(7))", "simd_broadcast_first(@)"}) +
                      ";\n",
                  {make_.small_vector(type, 1)});
    }
    if (element == "half")
      return text(name + " = " + random_.among({"simd_max", "simd_min", "quad_min"}) + "(@) + half4(0.0h);\n",
                  {make_.small_vector(type, 1)});
    return text(name + " = " +
                    random_.among({"simd_sum", "simd_max", "simd_xor", "simd_prefix_inclusive_sum",
                                   "simd_prefix_exclusive_sum", "quad_sum", "quad_or", "simd_product"}) +
                    "(@);\n",
                {make_.small_vector(type, 1)});
  }
  switch (random_.below(6)) {
    case 0: return text("p0 = simd_ballot(@)." + random_.among({"all()", "any()"}) + ";\n", {make_.condition(1)});
    case 1: return text("p0 = quad_ballot(@)." + random_.among({"all()", "any()"}) + ";\n", {make_.condition(1)});
    case 2: return text("p0 = simd_shuffle_xor(int(@), ushort(1)) != 0;\n", {make_.condition(1)});
    case 3:
      return text(target() + " = popcount(uint(ulong(simd_ballot(@))) & ((1u << (uint(v1) & 31u)) - 1u));\n",
                  {make_.condition(1)});
    case 4: return text(target() + " = int(simd_sum(ushort(@)));\n", {make_.integer(1)});
    default:
      return text("u1 = uint(simd_max(uchar(@))) + uint(simd_prefix_inclusive_sum(char(@)));\n",
                  {make_.integer(1), make_.integer(1)});
  }
}

}  // namespace metalloid::comparison
