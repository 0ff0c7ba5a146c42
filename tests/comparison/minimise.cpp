#include "minimise.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace metalloid::comparison {
namespace {

class Minimiser {
 public:
  Minimiser(Task task, Difference::Kind kind) : task_(std::move(task)), kind_(kind) {}

  Task run() {
    const auto shapes = task_.shapes;
    task_.timeout = std::chrono::seconds(1);
    for (const Shape& shape : shapes) {
      task_.shapes = {shape};
      if (differs()) break;
      task_.shapes = shapes;
    }
    do {
      changed_ = false;
      visit(task_.kernel.root);
    } while (changed_);
    return std::move(task_);
  }

 private:
  bool differs() {
    const auto difference = compare({task_}).front();
    return difference && difference->kind == kind_;
  }
  bool try_instead(Node& place, Node other) {
    std::swap(place, other);
    if (differs()) return changed_ = true;
    std::swap(place, other);
    return false;
  }

  void visit(Node& node) {
    if (node.kind == "block") drop_statements(node);
    if (node.kind == "statement") {
      for (const Node& child : std::vector<Node>(node.children)) {
        if (child.kind == "block" && try_instead(node, child)) return visit(node);
      }
    } else if (node.kind != "block") {
      simplify(node);
    }
    for (Node& child : node.children) visit(child);
  }

  void drop_statements(Node& block) {
    const bool is_root = &block == &task_.kernel.root;
    if (is_root) return;  // functions and body
    for (std::size_t length = block.children.size(); length >= 1; length /= 2) {
      for (std::size_t at = 0; at < block.children.size();) {
        Node shorter = block;
        const auto from = shorter.children.begin() + static_cast<std::ptrdiff_t>(at);
        shorter.children.erase(from,
                               from + static_cast<std::ptrdiff_t>(std::min(length, shorter.children.size() - at)));
        if (!try_instead(block, std::move(shorter))) at += length;
      }
    }
  }

  void simplify(Node& node) {
    static const std::map<std::string, std::vector<std::string>> simple = {
        {"int", {"1", "v0", "int(i)"}},
        {"uint", {"1u", "i"}},
        {"float", {"1.0f", "f0"}},
        {"bool", {"true", "false", "(i % 2u == 0u)"}},
        {"index", {"0", "i"}},
        {"uniform", {"1", "values.c0"}},
        {"uniform bool", {"true", "false"}},
        {"long", {"1l", "long(i)"}},
        {"half", {"1.0h"}},
        {"bfloat", {"bfloat(1.0f)"}}};
    const auto found = simple.find(node.kind);
    if (found != simple.end()) {
      for (const std::string& text : found->second) {
        if (node.text == text || try_instead(node, {node.kind, text})) return;
      }
    }
    std::vector<Node> inner;
    collect(node, node.kind, inner);
    for (Node& one : inner) {
      if (try_instead(node, std::move(one))) return simplify(node);
    }
  }
  static void collect(const Node& node, const std::string& kind, std::vector<Node>& found) {
    for (const Node& child : node.children) {
      if (child.kind == kind) found.push_back(child);
      collect(child, kind, found);
    }
  }

  Task task_;
  Difference::Kind kind_;
  bool changed_ = false;
};

}  // namespace

Task minimise(Task task, Difference::Kind kind) { return Minimiser(std::move(task), kind).run(); }

}  // namespace metalloid::comparison
