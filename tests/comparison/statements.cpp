#include "statements.h"

#include <utility>

namespace metalloid::comparison {

Node Statements::block(unsigned statements, unsigned depth, Place place) {
  Node result = make_.make("block", "");
  for (unsigned s = 0; s < statements; ++s) result.children.push_back(statement(depth, place));
  return result;
}

Node Statements::nested(unsigned depth, Place place) { return block(1 + random_.below(3), depth - 1, place); }

Node Statements::statement(unsigned depth, Place place) {
  switch (random_.below(depth == 0 ? 12 : 20)) {
    case 0:
    case 1:
    case 2:
    case 3: return assignment();
    case 4: return scope_.has_own ? own_store() : assignment();
    case 5:
    case 6: return across_lanes();
    case 7: return across_quads();
    case 8: return scope_.in_helper ? assignment() : atomic();
    case 9: return place.is_uniform && !scope_.in_helper ? exchange(place) : assignment();
    case 10: return leave(place);
    case 11:
      if (scope_.helpers == 0) return across_lanes();
      return text(target() + " = helper_of_this_" + std::to_string(random_.below(scope_.helpers)) + "(@, @, @);\n",
                  {make_.integer(1), make_.natural(1), make_.real(1)});
    case 12:
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
        return text("own_halves[" + random_.among({"(uint(@) & 3u) * 1024u + i", "1023u - i"}) + "] = @;\n",
                    {make_.half(1), make_.half(1)});
      return assignment();
    case 6:
      if (scope_.has_vectors) return text("own_packed[i] = packed_float3(@);\n", {make_.vector_of_floats(3, 1)});
      return assignment();
    default:
      if (scope_.has_vectors)
        return text("own_vectors[(1023u - i) * 2u + (uint(@) & 1u)] = @;\n",
                    {make_.integer(1), make_.vector_of_floats(4, 1)});
      return assignment();
  }
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
  switch (random_.below(6)) {
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
  if (!random_.one_in(3)) return assignment();
  return text("if (@) { out[i] = @; return; }\n", {make_.condition(1), make_.integer(1)});
}

Node Statements::across_lanes() {
  const auto to = [&](const std::string& kind) { return text(kind, {}); };
  switch (random_.below(24)) {
    case 0:
    case 1:
      return text(
          target() + " = " +
              random_.among({"simd_sum", "simd_product", "simd_min", "simd_max", "simd_and", "simd_or", "simd_xor"}) +
              "(@);\n",
          {make_.integer(1)});
    case 2:
      return text(
          "u" + make_.number(2) + " = " + random_.among({"simd_sum", "simd_min", "simd_max", "simd_and"}) + "(@);\n",
          {make_.natural(2)});
    case 3:
      return text("f0 = " + random_.among({"simd_sum", "simd_min", "simd_max"}) + "(exactly(@)) + 0.0f;\n",
                  {make_.real(2)});
    case 4:
      return text(target() + " = " +
                      random_.among({"simd_prefix_inclusive_sum", "simd_prefix_exclusive_sum",
                                     "simd_prefix_inclusive_product", "simd_prefix_exclusive_product"}) +
                      "(@);\n",
                  {make_.integer(1)});
    case 5:
      return text("f1 = " + random_.among({"simd_prefix_inclusive_sum", "simd_prefix_exclusive_sum"}) +
                      "(exactly(@)) + 0.0f;\n",
                  {make_.real(1)});
    case 6: return text(target() + " = simd_shuffle(@, ushort(@ & 31));\n", {make_.integer(1), make_.integer(1)});
    case 7: return text(target() + " = simd_shuffle_xor(@, ushort(" + make_.number(32) + "));\n", {make_.integer(1)});
    case 8:
      return text(target() + " = " +
                      random_.among({"simd_shuffle_up", "simd_shuffle_down", "simd_shuffle_rotate_up",
                                     "simd_shuffle_rotate_down"}) +
                      "(@, ushort(" + make_.number(32) + "));\n",
                  {make_.integer(1)});
    case 9: return text(target() + " = simd_broadcast(@, ushort(" + make_.number(32) + "));\n", {make_.integer(1)});
    case 10: return text(target() + " = simd_broadcast_first(@);\n", {make_.integer(1)});
    case 11: return text("p0 = " + random_.among({"simd_any", "simd_all"}) + "(@);\n", {make_.condition(1)});
    case 12: return text("u0 = uint(ulong(simd_ballot(@)));\n", {make_.condition(1)});
    case 13: return to("u1 ^= uint(ulong(simd_active_threads_mask()));\n");
    case 14: return to(target() + " += simd_is_first() ? 1000 : 1;\n");
    case 15: return text("f1 = simd_shuffle(@, ushort(@ & 31));\n", {make_.real(1), make_.integer(1)});
    case 16:
      return text("if (" + random_.among({"simd_any", "simd_all"}) + "(@)) {\n@}\n",
                  {make_.condition(1), block(1 + random_.below(2), 0, {})});
    case 17:
      if (scope_.has_halves)
        return text("h0 = " +
                        random_.among({"simd_sum(half(@ & 3))", "simd_shuffle_xor(half(@ & 255), ushort(5))",
                                       "simd_max(half(@ & 255))"}) +
                        ";\n",
                    {make_.integer(1)});
      break;
    case 18:
      if (scope_.has_longs)
        return text("l0 = " +
                        random_.among({"simd_shuffle_down(@, ushort(3))", "simd_broadcast_first(@)",
                                       "simd_shuffle(@, ushort(i ^ 9u) & 31)"}) +
                        ";\n",
                    {scope_.in_helper ? make_.make("long", "l1") : make_.wide_integer(1)});
      break;
    case 19:
      if (scope_.has_vectors)
        return text(random_.among({"q3 = simd_sum(@);\n", "q3 = simd_shuffle_up(@, ushort(2));\n",
                                   "q3 = simd_prefix_inclusive_sum(@);\n", "q3 = simd_max(@);\n"}),
                    {make_.vector_of_integers(1)});
      break;
    case 20:
      if (scope_.has_narrow)
        return text(random_.among({"s0 = simd_sum(@);\n", "s0 = simd_shuffle_xor(@, ushort(3));\n",
                                   "s0 = simd_min(@);\n", "s0 = simd_prefix_exclusive_sum(@);\n"}),
                    {make_.make("short", "s0")});
      break;
    case 21:
      return text(target() + " = @ ? simd_sum(@) : simd_max(@);\n",
                  {make_.condition(1), make_.integer(1), make_.integer(1)});
    case 22: return text("p0 = @ && simd_any(@);\n", {make_.condition(1), make_.condition(1)});
    default: break;
  }
  return text(target() + " = simd_shuffle_and_fill_" + random_.among({"up", "down"}) + "(@, @, ushort(" +
                  make_.number(32) + "));\n",
              {make_.integer(1), make_.integer(1)});
}

Node Statements::across_quads() {
  switch (random_.below(8)) {
    case 0:
      return text(
          target() + " = " +
              random_.among({"quad_sum", "quad_product", "quad_min", "quad_max", "quad_and", "quad_or", "quad_xor"}) +
              "(@);\n",
          {make_.integer(1)});
    case 1:
      return text(
          target() + " = " + random_.among({"quad_prefix_inclusive_sum", "quad_prefix_exclusive_sum"}) + "(@);\n",
          {make_.integer(1)});
    case 2: return text(target() + " = quad_shuffle(@, ushort(@ & 3));\n", {make_.integer(1), make_.integer(1)});
    case 3:
      return text(target() + " = " +
                      random_.among({"quad_shuffle_xor", "quad_shuffle_up", "quad_shuffle_down",
                                     "quad_shuffle_rotate_up", "quad_shuffle_rotate_down", "quad_broadcast"}) +
                      "(@, ushort(" + make_.number(4) + "));\n",
                  {make_.integer(1)});
    case 4: return text(target() + " = quad_broadcast_first(@);\n", {make_.integer(1)});
    case 5: return text("p0 = " + random_.among({"quad_any", "quad_all"}) + "(@);\n", {make_.condition(1)});
    case 6:
      return text("u0 = uint(ulong(quad_ballot(@))) + 16u * uint(ulong(quad_active_threads_mask()));\n",
                  {make_.condition(1)});
    default: return text("f0 = " + random_.among({"quad_sum", "quad_max"}) + "(exactly(@)) + 0.0f;\n", {make_.real(1)});
  }
}

// In any order the same.
Node Statements::atomic() {
  switch (scope_.has_threadgroup_memory ? random_.below(9) : 3 + random_.below(6)) {
    case 0:
    case 1:
      return text("atomic_fetch_" + change_here_ + "_explicit(&here[@ & 7], @, memory_order_relaxed);\n",
                  {make_.integer(1), make_.integer(1)});
    case 2:
      return text(
          "atomic_fetch_" + change_here_ + "_explicit(&here[" + make_.number(8) + "], @, memory_order_relaxed);\n",
          {make_.integer(1)});
    case 3:
      return text("atomic_fetch_" + change_everywhere_ + "_explicit(&atomics[@ & 63], @, memory_order_relaxed);\n",
                  {make_.integer(1), make_.integer(1)});
    case 4:
      return text("atomic_fetch_" + change_everywhere_ + "_explicit(&atomics[" + make_.number(64) +
                      "], @, memory_order_relaxed);\n",
                  {make_.integer(1)});
    // Each number is drawn once, whoever draws it.
    case 5:
    case 6: {
      const std::string which = std::to_string(2 * random_.below(4));
      return text("atomic_fetch_xor_explicit(&tickets[" + which +
                  " + 1], uint(hash(atomic_fetch_add_explicit(&tickets[" + which + "], " +
                  (which == "2" ? "3u" : "1u") + ", memory_order_relaxed))), memory_order_relaxed);\n");
    }
    case 7:
      return text("atomic_fetch_add_explicit(&tickets[8u + (uint(@) & 7u)], uint(@), memory_order_relaxed);\n",
                  {make_.integer(1), make_.integer(1)});
    default: {
      const std::string old = "old" + std::to_string(names_++);
      return text("{ uint " + old +
                      " = atomic_load_explicit(&tickets[16], memory_order_relaxed);\nwhile "
                      "(!atomic_compare_exchange_weak_explicit(&tickets[16], &" +
                      old + ", " + old + " + (uint(@) & 15u), memory_order_relaxed, memory_order_relaxed)) {} }\n",
                  {make_.make("int", target())});
    }
  }
}

// What one thread writes between two barriers another reads behind them.
Node Statements::exchange(Place) {
  const std::string place =
      random_.among({"t", "511u - t", "(t * 5u) & 511u", "t ^ 37u", "t ^ 1u", "(t + 100u) & 511u"});
  const std::string barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);\n";
  const std::string other =
      random_.among({"t + 1u", "t / 2u", "511u - t", "uint(@) & 511u", "t ^ 3u", "lane * 3u", "5u", "uint(n1) & 511u"});
  switch (scope_.has_threadgroup_memory ? random_.below(6) : 2) {
    case 0: {
      Node value = make_.integer(0);
      return text(barrier + target() + " ^= atomic_load_explicit(&here[@ & 7], memory_order_relaxed);\n" + barrier,
                  {std::move(value)});
    }
    case 1: return text(barrier);
    case 2: return text("n" + make_.number(2) + " = @;\n", {make_.uniform(2)});
    case 3:
      if (scope_.has_narrow) {
        Node value = make_.integer(1);
        return text(barrier + "shared_bytes[" + place + "] = uchar(@);\n" + barrier + target() +
                        " = int(shared_bytes[(" + other + ") & 511u]);\n",
                    {std::move(value), make_.integer(1)});
      }
      [[fallthrough]];
    default: {
      Node value = make_.integer(1);
      const std::string condition = random_.one_in(3) ? "if (p0) " : "";
      return text(barrier + condition + "shared[" + place + "] = @;\n" + barrier + target() + " = shared[(" + other +
                      ") & 511u];\n",
                  {std::move(value), make_.integer(1)});
    }
  }
}

}  // namespace metalloid::comparison
