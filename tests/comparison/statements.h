// Random statements: how control flows, and where threads meet.
#pragma once

#include "expressions.h"

namespace metalloid::comparison {

// Where a statement stands.
struct Place {
  bool is_uniform = false;  // all threads of a threadgroup come here that have not ended, so that they may meet
  bool in_loop = false;     // `break` and `continue` are its own
  bool in_switch = false;
  unsigned loops = 0;
};

class Statements {
 public:
  Statements(Random& random, Scope& scope) : random_(random), scope_(scope), make_(random, scope) {}

  Node block(unsigned statements, unsigned depth, Place place);
  // The text that every kernel begins and ends with.
  Node kernel(unsigned statements);
  Node helper(unsigned number);
  Node pointer_helper();

 private:
  Node statement(unsigned depth, Place place);
  Node skeleton(unsigned depth, Place place);
  Node nested(unsigned depth, Place place);
  Node assignment();
  Node own_store();
  Node branch(unsigned depth, Place place);
  Node set_on_one_way(unsigned depth, Place place);
  Node loop(unsigned depth, Place place);
  Node uniform_loop(unsigned depth, Place place);
  Node choice(unsigned depth, Place place);
  Node leave(Place place);
  Node across_lanes();
  Node across_lanes_small();
  Node across_quads();
  Node set_small();
  Node set_own_place();
  Node through_pointers();
  Node jump_into_loop(unsigned depth, Place place);
  Node striding_loop(unsigned depth, Place place);
  Node matrices();
  Node exchange_others(const std::string& barrier);
  Node atomic();
  Node exchange(Place place);
  Node text(std::string text, std::vector<Node> children = {}) {
    return make_.make("statement", std::move(text), std::move(children));
  }
  std::string target() { return "v" + std::to_string(random_.below(4)); }
  Node around(Node statements);

  Random& random_;
  Scope& scope_;
  Expressions make_;
  unsigned names_ = 0;
  std::string change_here_, change_everywhere_, change_floats_, change_wide_;  // the operation of each array of atomics
};

}  // namespace metalloid::comparison
