// Random expressions of each kind. All of them are defined whatever their operands are: indices are cut to their
// arrays.
#pragma once

#include <string>
#include <vector>

#include "program.h"
#include "random.h"

namespace metalloid::comparison {

// What the statements around an expression have declared.
struct Scope {
  bool in_helper = false;
  bool has_halves = false, has_bfloats = false, has_longs = false, has_narrow = false, has_vectors = false;
  bool has_arrays = false, has_pointers = false, has_own = false, has_uniforms = false, has_safe_mathematics = false;
  bool has_threadgroup_memory = false, is_skeleton = false;
  bool has_constants = false, has_small_vectors = false, has_small_arrays = false, has_own_places = false;
  bool has_pointer_arguments = false;  // of a function
  bool has_pointer_helper = false;
  bool has_jumps = false;
  bool is_alone = false;  // no lanes may meet here
  unsigned helpers = 0;
  Dimensions dimensions = Dimensions::one;
  std::vector<std::string> counters = {};  // of the loops around
};

// Whose elements have other sizes than 32 bits.
struct VectorType {
  const char *name, *element, *variable, *order, *load;
  unsigned size;
};

class Expressions {
 public:
  Expressions(Random& random, Scope& scope) : random_(random), scope_(scope) {}

  Node integer(unsigned depth);
  Node natural(unsigned depth);
  Node real(unsigned depth);
  Node condition(unsigned depth);
  Node half(unsigned depth);
  Node bfloat(unsigned depth);
  Node wide_integer(unsigned depth);
  Node narrow(unsigned depth);  // of fewer than 32 bits, as int
  Node vector_of_floats(unsigned size, unsigned depth);
  Node vector_of_integers(unsigned depth);  // int3
  Node vector_of_naturals(unsigned depth);  // uint4
  const VectorType& small_vector_type();
  Node small_vector(const VectorType& type, unsigned depth);
  // The same in all threads of a threadgroup.
  Node uniform(unsigned depth);
  Node uniform_condition(unsigned depth);
  Node index(unsigned depth);  // below 4096
  // From memory that nobody writes.
  Node loaded_integer(unsigned depth);
  Node loaded_float(unsigned depth);
  std::string literal();

  Node make(std::string kind, std::string text, std::vector<Node> children = {}) {
    return {std::move(kind), std::move(text), std::move(children)};
  }
  std::string number(unsigned bound) { return std::to_string(random_.below(bound)); }

  Node from_small_array(unsigned depth);
  Node exact(Node value);

 private:
  Node from_small_vector(unsigned depth);
  Node from_own_place(unsigned depth);
  Node from_pointer_argument(unsigned depth);
  Node walked(unsigned depth);

  Random& random_;
  Scope& scope_;
};

}  // namespace metalloid::comparison
