// The source that metal_kernel generates around the user's function body, and what it binds where.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/fast.h"

namespace metalloid::fast {

// What the generated parameter list says about one input.
struct InputMentions {
  bool shape = false, strides = false, ndim = false;
};

// A metal_kernel as declared.
struct Declaration {
  std::string name;
  std::vector<std::string> input_names, output_names;
  std::string source, header;
  bool ensure_row_contiguous = true, atomic_outputs = false;
  MathMode math_mode = MathMode::safe;

  std::vector<InputMentions> mentions;              // per input, found in source
  std::vector<const struct Attribute*> attributes;  // found in source
};

// Searches the body for the names that become parameters.
void find_mentions(Declaration& declaration);

// What stands at one buffer index.
struct Binding {
  enum class Kind { input, shape, strides, ndim, output };
  Kind kind;
  std::size_t array;  // of the inputs or outputs
};

// Buffer indices in order.
std::vector<Binding> bindings(const Declaration& declaration, std::span<const Array> inputs);

// "<float, 3, 1>"; empty without arguments.
std::string template_list(const TemplateArguments& arguments);

GeneratedSource generate(const Declaration& declaration, std::span<const Array> inputs,
                         std::span<const Dtype> output_dtypes, const TemplateArguments& template_arguments);

// Throws invalid_argument, naming the array, if its elements do not all lie in its buffer.
void check_memory(const Array& array, std::string_view name);

}  // namespace metalloid::fast
