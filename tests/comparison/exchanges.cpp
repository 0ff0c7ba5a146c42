// Statements by which threads give each other values, through memory of the threadgroup and in matrices.
#include <utility>

#include "statements.h"

namespace metalloid::comparison {

// Of whole numbers so small that sums are exact in any order.
Node Statements::matrices() {
  const std::string m = "m" + std::to_string(names_++);
  const auto matrix = [&](const std::string& name, bool is_half) {
    const std::string type = is_half ? "half" : "float", memory = is_half ? "in_halves" : "in_float";
    const std::string stride = random_.among({"8", "8", "16", "11"});
    return "simdgroup_" + type + "8x8 " + name + ";\nsimdgroup_load(" + name + ", " + memory + " + " +
           random_.among({"(uint(@) & 511u)", "0u * uint(@)", "8u * (simdgroup + (uint(@) & 1u))"}) + ", " + stride +
           random_.among({"", "", ", ulong2(0, 0), true", ", ulong2(2, 1)"}) + ");\n";
  };
  const bool has_halves = random_.one_in(3);
  std::string source = "{ simdgroup_float8x8 " + m + "c = make_" + random_.among({"filled", "diagonal"}) +
                       "_simdgroup_matrix<float, 8, 8>(" + random_.among({"1.0f", "0.0f", "float(@ & 7)"}) + ");\n";
  std::vector<Node> children;
  if (source.find('@') != std::string::npos) children.push_back(make_.uniform(1));
  source += matrix(m + "a", has_halves) + matrix(m + "b", has_halves && random_.one_in(2));
  children.push_back(make_.uniform(1));
  children.push_back(make_.uniform(1));
  const std::string product = "simdgroup_multiply_accumulate(" + m + "c, " + m + "a, " + m + "b, " + m + "c);\n";
  switch (random_.below(4)) {
    case 0: source += "simdgroup_multiply(" + m + "c, " + m + "a, " + m + "b);\n"; break;
    case 1:
      source += "for (int " + m + "k = 0; " + m + "k < (@ & 3); ++" + m + "k) " + product;
      children.push_back(make_.uniform(1));
      break;
    case 2:
      source += "if (@) " + product;
      children.push_back(make_.uniform_condition(1));
      break;
    default: source += product;
  }
  const std::string to = "f" + make_.number(2);
  if (scope_.has_threadgroup_memory && random_.one_in(2)) {
    source += "threadgroup_barrier(mem_flags::mem_threadgroup);\nsimdgroup_store(" + m +
              "c, tiles + simdgroup * 64u, 8" + random_.among({"", ", ulong2(0, 0), true"}) +
              ");\nsimdgroup_barrier(mem_flags::mem_threadgroup);\n" + to +
              " = exactly(tiles[simdgroup * 64u + ((lane * " + random_.among({"1u", "2u", "9u"}) + " + " +
              make_.number(64) + "u) & 63u)]);\n}\n";
  } else {
    source += to + " = exactly(" + m + "c.thread_elements()[" + make_.number(2) + "]);\n}\n";
  }
  return text(std::move(source), std::move(children));
}

Node Statements::exchange_others(const std::string& barrier) {
  const std::string other =
      random_.among({"t + 1u", "t / 2u", "t ^ 3u", "lane * 3u", "5u", "uint(@)", "threads - 1u - t"});
  Node value = make_.integer(1), index = make_.integer(1);
  switch (random_.below(5)) {
    case 0: {
      Node wide = make_.wide_integer(1);
      return text(barrier + "((threadgroup long*)dynamic)[t] = @;\n" + barrier + target() +
                      " = bits(((threadgroup long*)dynamic)[(0u + " + other + ") % threads]);\n" + barrier,
                  {std::move(wide), std::move(index)});
    }
    case 1:
      return text(barrier + target() + " ^= dynamic[(0u + " + other + ") % (2u * threads)];\n" + barrier,
                  {std::move(index)});
    case 2:
      return text(barrier + "((threadgroup short*)shared)[t] = short(@);\n" + barrier + target() +
                      " = int(((threadgroup short*)shared)[(0u + " + other + ") & 2047u]);\n",
                  {std::move(value), std::move(index)});
    case 3: {
      // Among the lanes of a simdgroup.
      const std::string small = "simdgroup_barrier(mem_flags::mem_threadgroup);\n";
      return text(barrier + "shared[simdgroup * 32u + lane] = @;\n" + small + target() +
                      " = shared[simdgroup * 32u + ((0u + " + other + ") & 31u)];\n" + small,
                  {std::move(value), std::move(index)});
    }
    default:
      return text(barrier + "((threadgroup uchar4*)shared)[1023u - t] = as_type<uchar4>(@);\n" + barrier + target() +
                      " = int(((threadgroup char*)shared)[(0u + " + other + ") & 4095u]);\n",
                  {std::move(value), std::move(index)});
  }
}

}  // namespace metalloid::comparison
