#include "statements.h"

#include <utility>

namespace metalloid::comparison {

Node Statements::block(unsigned statements, unsigned depth, Place place) {
  Node result = make_.make("block", "");
  for (unsigned s = 0; s < statements; ++s) result.children.push_back(statement(depth, place));
  return result;
}

Node Statements::nested(unsigned depth, Place place) { return block(1 + random_.below(3), depth - 1, place); }

// Little but the flow of control, and who takes part in what.
Node Statements::skeleton(unsigned depth, Place place) {
  switch (random_.below(depth == 0 ? 7 : 16)) {
    case 0:
    case 1:
      if (scope_.is_alone) return assignment();
      return text("v2 = v2 * 31 + int(uint(ulong(simd_active_threads_mask())));\n");
    case 2:
      if (scope_.is_alone) return assignment();
      return text("v3 = v3 * 31 + simd_sum(v2 & 255);\n");
    case 3: return text("v1 = v1 * 5 + @;\n", {make_.integer(0)});
    case 4:
    case 5:
    case 6: return leave(place);
    case 7:
    case 8:
    case 9: return branch(depth, place);
    case 10:
    case 11:
    case 12: return loop(depth, place);
    case 13:
      if (scope_.has_jumps && random_.one_in(2)) return jump_into_loop(depth, place);
      return place.is_uniform ? uniform_loop(depth, place) : loop(depth, place);
    case 14: return set_on_one_way(depth, place);
    default: return choice(depth, place);
  }
}

Node Statements::statement(unsigned depth, Place place) {
  if (scope_.is_skeleton && !random_.one_in(8)) return skeleton(depth, place);
  if (random_.one_in(6)) {
    switch (random_.below(depth == 0 ? 5 : 8)) {
      case 0:
        if (scope_.has_small_vectors || scope_.has_small_arrays) return set_small();
        break;
      case 1:
        if (scope_.has_own_places) return set_own_place();
        break;
      case 2: return through_pointers();
      case 3: return scope_.is_alone ? assignment() : across_lanes_small();
      case 4: break;
      case 5:
        if (scope_.has_jumps) return jump_into_loop(depth, place);
        break;
      default: return striding_loop(depth, place);
    }
  }
  switch (random_.below(depth == 0 ? 12 : 20)) {
    case 0:
    case 1:
    case 2:
    case 3: return assignment();
    case 4: return scope_.has_own ? own_store() : assignment();
    case 5:
    case 6: return scope_.is_alone ? assignment() : across_lanes();
    case 7: return scope_.is_alone ? assignment() : across_quads();
    case 8: return scope_.in_helper ? assignment() : atomic();
    case 9: return place.is_uniform && !scope_.in_helper ? exchange(place) : assignment();
    case 10: return leave(place);
    case 11:
      if (scope_.is_alone) return assignment();
      if (scope_.helpers == 0) return across_lanes();
      return text(target() + " = helper_of_this_" + std::to_string(random_.below(scope_.helpers)) + "(@, @, @);\n",
                  {make_.integer(1), make_.natural(1), make_.real(1)});
    case 12: return random_.one_in(2) ? set_on_one_way(depth, place) : branch(depth, place);
    case 13:
    case 14:
    case 15: return branch(depth, place);
    case 16:
    case 17: return loop(depth, place);
    case 18: return place.is_uniform ? uniform_loop(depth, place) : loop(depth, place);
    default: return choice(depth, place);
  }
}

Node Statements::assignment() {
  switch (random_.below(20)) {
    case 0: return text("u" + make_.number(2) + " = @;\n", {make_.natural(2)});
    case 1:
    case 2: return text("f" + make_.number(2) + " = @;\n", {make_.real(2)});
    case 3: return text("p0 = @;\n", {make_.condition(1)});
    case 4:
      if (scope_.has_halves) return text("h" + make_.number(2) + " = @;\n", {make_.half(2)});
      break;
    case 5:
      if (scope_.has_bfloats) return text("bf" + make_.number(2) + " = @;\n", {make_.bfloat(2)});
      break;
    case 6:
      if (scope_.has_longs) return text("l" + make_.number(2) + " = @;\n", {make_.wide_integer(2)});
      break;
    case 7:
      if (scope_.has_narrow)
        return text(random_.among({"s0 = short(@);\n", "w0 = uchar(@);\n", "s0 += short(@);\n"}), {make_.integer(1)});
      break;
    case 8:
    case 9:
      if (!scope_.has_vectors) break;
      switch (random_.below(7)) {
        case 0: return text("g2 = @;\n", {make_.vector_of_floats(2, 2)});
        case 1: return text("g3 = @;\n", {make_.vector_of_floats(3, 2)});
        case 2: return text("g4 = @;\n", {make_.vector_of_floats(4, 2)});
        case 3: return text("q3 = @;\n", {make_.vector_of_integers(2)});
        case 4: return text("r4 = @;\n", {make_.vector_of_naturals(2)});
        case 5: return text("r4[@ & 3u] = @;\n", {make_.natural(1), make_.natural(1)});
        default: return text("g4.yz = @;\n", {make_.vector_of_floats(2, 1)});
      }
    case 10:
    case 11:
    case 12:
      if (!scope_.has_arrays) break;
      switch (random_.below(8)) {
        case 0: return text("b[@ % 5u] = @;\n", {make_.natural(1), make_.real(1)});
        case 1:
          return text("c[@ % 3u] = @;\n",
                      {make_.natural(1),
                       scope_.has_vectors ? make_.vector_of_floats(4, 1) : make_.make("float4", "float4(1.0f)")});
        case 2: return text("grid_of[@ & 3][@ % 3u] = @;\n", {make_.integer(1), make_.natural(1), make_.integer(1)});
        case 3:
          if (random_.one_in(3)) {
            const std::string from = scope_.in_helper
                                         ? "pairs[@ & 1]"
                                         : random_.among({"in_pairs[uint(@) & 1023u]", "in_pairs[i]", "pairs[@ & 1]"});
            return text("pairs[@ % 3u] = " + from + ";\n", {make_.natural(1), make_.integer(1)});
          }
          return text("pairs[@ % 3u]." + random_.among({"x = @", "z = short(@)", "w = uchar(@)"}) + ";\n",
                      {make_.natural(1), make_.integer(1)});
        case 4: return text("a[" + make_.number(8) + "] = @;\n", {make_.integer(1)});
        default: return text("a[@ & 7] = @;\n", {make_.integer(1), make_.integer(1)});
      }
    case 13:
      if (!scope_.has_pointers) break;
      switch (random_.below(3)) {
        case 0: return text("pointer = @ ? a : a8;\n", {make_.condition(1)});
        case 1: return text("from = in + (@);\n", {make_.index(1)});
        default: return text("pointer[@ & 7] = @;\n", {make_.integer(1), make_.integer(1)});
      }
    default: break;
  }
  return text(target() + random_.among({" = ", " = ", " ^= ", " += "}) + "@;\n", {make_.integer(1 + random_.below(2))});
}

Node Statements::own_store() {
  switch (random_.below(8)) {
    case 0: return text("own_rows[i * 8u + (uint(@) & 7u)] = @;\n", {make_.integer(1), make_.integer(1)});
    case 1: return text("own_rows[i * 8u + " + make_.number(8) + "u] = @;\n", {make_.integer(1)});
    case 2: return text("own_columns[(uint(@) & 7u) * 1024u + i] = @;\n", {make_.integer(1), make_.integer(1)});
    case 3: return text("own_columns[" + make_.number(8) + "u * 1024u + i] = @;\n", {make_.integer(1)});
    case 4:
      return text("own_bytes[i * 4u + " + random_.among({"1u", "(uint(@) & 3u)"}) + "] = uchar(@);\n",
                  {make_.integer(1), make_.integer(1)});
    case 5:
      if (scope_.has_halves)
        return text("own_halves[" + random_.among({"(uint(@) & 3u) * 1024u + i", "5119u - i"}) + "] = @;\n",
                    {make_.half(1), make_.half(1)});
      return assignment();
    case 6:
      if (random_.one_in(3))
        return text("((device uchar4*)own_bytes)[i] = uchar4(uchar(@), 1, uchar(v0), 3);\n", {make_.integer(1)});
      if (scope_.has_vectors) return text("own_packed[i] = packed_float3(@);\n", {make_.vector_of_floats(3, 1)});
      return assignment();
    default:
      if (scope_.has_vectors)
        return text("own_vectors[(1023u - i) * 2u + (uint(@) & 1u)] = @;\n",
                    {make_.integer(1), make_.vector_of_floats(4, 1)});
      return assignment();
  }
}

// A variable that some ways leave undefined: nobody reads it there.
Node Statements::set_on_one_way(unsigned depth, Place place) {
  const std::string name = std::to_string(names_++), x = "x" + name, has = "has" + name;
  place.is_uniform = false;
  Node value =
      scope_.is_alone || random_.one_in(2) ? make_.uniform(1) : make_.make("int", "simd_sum(@)", {make_.integer(1)});
  Node condition = make_.condition(1), other = make_.integer(1);
  Node then = nested(depth, place), otherwise = nested(depth, place), between = nested(depth, place);
  const bool is_first = random_.one_in(2);
  const std::string set = x + " = " + random_.among({"@", "@", "@ * 3"}) + ";\n";
  return text("{ int " + x + "; const bool " + has + " = @;\nif (" + has + ") {\n" + (is_first ? set : "") + "@" +
                  (is_first ? "" : set) + "} else {\n@}\n@if (" + has + ") v1 ^= " + x + ";\n}\n",
              is_first ? std::vector<Node>{std::move(condition), std::move(value), std::move(then),
                                           std::move(otherwise), std::move(between)}
                       : std::vector<Node>{std::move(condition), std::move(then), std::move(value),
                                           std::move(otherwise), std::move(between)});
}

Node Statements::branch(unsigned depth, Place place) {
  const bool is_uniform = place.is_uniform && random_.one_in(4);
  Node condition = is_uniform ? make_.uniform_condition(1) : make_.condition(1);
  place.is_uniform = is_uniform;
  Node then = nested(depth, place);
  if (random_.one_in(2)) return text("if (@) {\n@}\n", {std::move(condition), std::move(then)});
  return text("if (@) {\n@} else {\n@}\n", {std::move(condition), std::move(then), nested(depth, place)});
}

Node Statements::loop(unsigned depth, Place place) {
  const std::string k = "k" + std::to_string(names_++);
  const std::string most = place.loops == 0 ? "7" : "3";
  Place inside{.in_loop = true, .loops = place.loops + 1};
  scope_.counters.push_back(k);
  Node body = nested(depth, inside);
  scope_.counters.pop_back();
  switch (random_.below(scope_.is_alone ? 6 : 7)) {
    case 6:
      return text("for (int " + k + " = 0; " + k + " < " + most + " && simd_any(@); ++" + k + ") {\n@}\n",
                  {make_.condition(1), std::move(body)});
    case 0:
      return text("for (int " + k + " = 0; " + k + " < " + std::to_string(1 + random_.below(place.loops ? 3 : 6)) +
                      "; ++" + k + ") {\n@}\n",
                  {std::move(body)});
    case 1:
      return text("for (int " + k + " = @ & " + most + "; " + k + " > 0; --" + k + ") {\n@}\n",
                  {make_.integer(1), std::move(body)});
    case 2:
      return text("for (int " + k + " = 0; " + k + " < (@ & " + most + "); ++" + k + ") {\n@}\n",
                  {make_.integer(1), std::move(body)});
    case 3:
      return text("{ int " + k + " = 0; while (" + k + "++ < " + most + " && @) {\n@} }\n",
                  {make_.condition(1), std::move(body)});
    case 4:
      return text("{ int " + k + " = 0; do {\n@} while (++" + k + " < " + most + " && @); }\n",
                  {std::move(body), make_.condition(1)});
    default: {
      scope_.counters.push_back(k);
      Node rest = nested(depth, inside);
      scope_.counters.pop_back();
      return text("for (int " + k + " = 0;; ++" + k + ") {\nif (" + k + " > " + most + ") break;\n@if (@) break;\n@}\n",
                  {std::move(body), make_.condition(1), std::move(rest)});
    }
  }
}

// All threads of the threadgroup turn alike, and may meet in it.
Node Statements::uniform_loop(unsigned depth, Place place) {
  const std::string k = "k" + std::to_string(names_++);
  scope_.counters.push_back(k);
  Node body = nested(depth, {.is_uniform = true, .loops = place.loops + 1});
  scope_.counters.pop_back();
  const std::string last = random_.one_in(3) ? "if (@) break;\n" : "";
  std::vector<Node> children;
  children.push_back(make_.uniform(1));
  children.push_back(std::move(body));
  if (!last.empty()) children.push_back(make_.uniform_condition(1));
  return text("for (int " + k + " = 0; " + k + " < (@ & 3); ++" + k + ") {\n@" + last + "}\n", std::move(children));
}

Node Statements::choice(unsigned depth, Place place) {
  const bool is_uniform = place.is_uniform && random_.one_in(4);
  std::string source = "switch (@ & " + random_.among({"3", "7"}) + ") {\n";
  std::vector<Node> children;
  children.push_back(is_uniform ? make_.uniform(1) : make_.integer(1));
  place.is_uniform = is_uniform;
  place.in_switch = true;
  const unsigned cases = 1 + random_.below(4);
  for (unsigned c = 0; c < cases; ++c) {
    source += "case " + std::to_string(c * (1 + cases % 2)) + ": {\n@}\n" + (random_.one_in(3) ? "" : "break;\n");
    children.push_back(nested(depth, place));
  }
  if (random_.one_in(2)) {
    source += "default: {\n@}\n";
    children.push_back(nested(depth, place));
  }
  return text(source + "}\n", std::move(children));
}

Node Statements::leave(Place place) {
  const unsigned kind = random_.below(6);
  if (kind < 2 && place.in_loop && !place.in_switch) return text("if (@) break;\n", {make_.condition(1)});
  if (kind < 4 && place.in_loop) return text("if (@) continue;\n", {make_.condition(1)});
  if (kind == 4 && place.in_switch && !place.is_uniform) return text("if (@) break;\n", {make_.condition(1)});
  if (scope_.in_helper) return text("if (@) return @;\n", {make_.condition(1), make_.integer(1)});
  if (!random_.one_in(scope_.is_skeleton ? 2 : 3)) return assignment();
  return text("if (@) { out[i] = @; return; }\n", {make_.condition(1), make_.integer(1)});
}

}  // namespace metalloid::comparison
