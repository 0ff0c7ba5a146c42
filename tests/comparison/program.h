// A generated kernel as a tree, which can be printed and made smaller.
#pragma once

#include <string>
#include <vector>

namespace metalloid::comparison {

// A statement, a block of them, or an expression. The text has an '@' for each child.
struct Node {
  std::string kind;  // "block", "statement", or what an expression is: one may stand where another of its kind does
  std::string text;
  std::vector<Node> children = {};

  std::string print() const;
};

enum class Dimensions { one = 1, two, three };

struct GeneratedKernel {
  Node root;
  Dimensions dimensions = Dimensions::one;
  // Floating-point operations of safe mathematics have one right result each. In fast mathematics the kernel uses
  // numbers that are exact whatever the compiler makes of it.
  bool has_safe_mathematics = false;
};

// What every library begins with.
std::string library_head();

// The kernel's own functions and itself.
std::string source_of(const GeneratedKernel& kernel, const std::string& name);

// The same kernel for the same seed.
GeneratedKernel generate_kernel(std::uint64_t seed);

// Of a grid.
inline constexpr unsigned most_threads = 1024;

}  // namespace metalloid::comparison
