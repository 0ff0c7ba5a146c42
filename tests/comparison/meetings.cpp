// Statements in which threads meet, or change what others change too.
#include <utility>

#include "statements.h"

namespace metalloid::comparison {

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
      if (scope_.has_safe_mathematics && random_.one_in(2)) {
        return text("f0 = " + random_.among({"simd_min", "simd_max", "quad_min", "quad_max"}) + "(@) + 0.0f;\n",
                    {make_.real(2)});
      }
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
    case 6:
      return text(target() + " = simd_shuffle(@, ushort(@ & " + random_.among({"31", "31", "63"}) + "));\n",
                  {make_.integer(1), make_.integer(1)});
    case 7: return text(target() + " = simd_shuffle_xor(@, ushort(" + make_.number(32) + "));\n", {make_.integer(1)});
    case 8:
      return text(target() + " = " +
                      random_.among({"simd_shuffle_up", "simd_shuffle_down", "simd_shuffle_rotate_up",
                                     "simd_shuffle_rotate_down"}) +
                      "(@, ushort(@ & 63));\n",
                  {make_.integer(1), random_.one_in(2) ? make_.uniform(1) : make_.make("uniform", make_.number(32))});
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
    case 2:
      return text(target() + " = quad_shuffle(@, ushort(@ & " + random_.among({"3", "3", "7"}) + "));\n",
                  {make_.integer(1), make_.integer(1)});
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
      random_.among({"t", "1023u - t", "(t * 5u) & 1023u", "t ^ 37u", "t ^ 1u", "(t + 100u) & 1023u"});
  const std::string barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);\n";
  const std::string other = random_.among(
      {"t + 1u", "t / 2u", "1023u - t", "uint(@) & 1023u", "t ^ 3u", "lane * 3u", "5u", "uint(n1) & 1023u"});
  if (random_.one_in(8)) return matrices();
  if (scope_.has_threadgroup_memory && random_.one_in(4)) return exchange_others(barrier);
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
                        " = int(shared_bytes[(0u + " + other + ") & 1023u]);\n",
                    {std::move(value), make_.integer(1)});
      }
      [[fallthrough]];
    default: {
      Node value = make_.integer(1);
      const std::string condition = random_.one_in(3) ? "if (p0) " : "";
      return text(barrier + condition + "shared[" + place + "] = @;\n" + barrier + target() + " = shared[(" + other +
                      ") & 1023u];\n",
                  {std::move(value), make_.integer(1)});
    }
  }
}

}  // namespace metalloid::comparison
