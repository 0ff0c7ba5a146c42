// Generates the kernel around a metal_kernel's body: the signature rules of mx.fast.metal_kernel.
//
//   header
//   template <typename T, int N>                       only with template arguments
//   [[kernel]] void custom_kernel_NAME_HASH(
//     const device float* x [[buffer(0)]],             inputs: constant below 8 elements, a reference without
//     dimensions const constant int* x_shape [[buffer(1)]],       where the body says x_shape; likewise x_strides,
//     x_ndim device float* y [[buffer(2)]],                   outputs uint3 thread_position_in_grid [[...]]) {
//     attributes that the body mentions
//   body
//   }
//   template [[host_name("...")]] [[kernel]] decltype(...) ...;
//
// Mentions are substrings: comments count, and an input `x` is mentioned by `max_shape`. That is MLX's rule, and only
// adds parameters that nobody reads.
#include "metal_kernel/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace metalloid::fast {

struct Attribute {
  std::string_view name, type;
};

namespace {

constexpr int smallest_device_array = 8;  // elements; smaller inputs are passed in the constant address space

constexpr std::array<Attribute, 20> known_attributes{{
    {"dispatch_quadgroups_per_threadgroup", "uint"},
    {"dispatch_simdgroups_per_threadgroup", "uint"},
    {"dispatch_threads_per_threadgroup", "uint3"},
    {"grid_origin", "uint3"},
    {"grid_size", "uint3"},
    {"quadgroup_index_in_threadgroup", "uint"},
    {"quadgroups_per_threadgroup", "uint"},
    {"simdgroup_index_in_threadgroup", "uint"},
    {"simdgroups_per_threadgroup", "uint"},
    {"thread_execution_width", "uint"},
    {"thread_index_in_quadgroup", "uint"},
    {"thread_index_in_simdgroup", "uint"},
    {"thread_index_in_threadgroup", "uint"},
    {"thread_position_in_grid", "uint3"},
    {"thread_position_in_threadgroup", "uint3"},
    {"threadgroup_position_in_grid", "uint3"},
    {"threadgroups_per_grid", "uint3"},
    {"threads_per_grid", "uint3"},
    {"threads_per_simdgroup", "uint"},
    {"threads_per_threadgroup", "uint3"},
}};

std::string render(const TemplateArgument& argument) {
  return std::visit(
      [](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), Dtype>) {
          return std::string(metal_name(value));
        } else {
          return fmt::format("{}", static_cast<int>(value));
        }
      },
      argument);
}

std::string_view parameter_kind(const TemplateArgument& argument) {
  constexpr std::array<std::string_view, 3> kinds{"int", "bool", "typename"};
  return kinds[argument.index()];
}

// An identifier that differs for every signature the declaration can have.
std::string kernel_name(const Declaration& declaration, std::span<const Array> inputs,
                        std::span<const Dtype> output_dtypes, const std::string& list) {
  std::string result = "custom_kernel_" + declaration.name;
  if (!list.empty()) {
    result += '_';
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      if (list[i] == ' ') continue;  // of ", "
      result += list[i] == '<' || list[i] == ',' || list[i] == '-' ? '_' : list[i];
    }
  }
  for (const Array& input : inputs) {
    result += fmt::format("_{}{}", metal_name(input.dtype),
                          input.shape.empty() ? "s" : (input.size() < smallest_device_array ? "c" : ""));
  }
  for (Dtype dtype : output_dtypes) result += fmt::format("_{}", metal_name(dtype));
  return result;
}

}  // namespace

void find_mentions(Declaration& declaration) {
  auto mentioned = [&](const std::string& word) { return declaration.source.find(word) != std::string::npos; };
  for (const std::string& name : declaration.input_names) {
    declaration.mentions.push_back(
        {mentioned(name + "_shape"), mentioned(name + "_strides"), mentioned(name + "_ndim")});
  }
  for (const Attribute& attribute : known_attributes) {
    if (mentioned(std::string(attribute.name))) declaration.attributes.push_back(&attribute);
  }
}

std::vector<Binding> bindings(const Declaration& declaration, std::span<const Array> inputs) {
  using enum Binding::Kind;
  std::vector<Binding> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    result.push_back({input, i});
    if (inputs[i].shape.empty()) continue;
    if (declaration.mentions[i].shape) result.push_back({shape, i});
    if (declaration.mentions[i].strides) result.push_back({strides, i});
    if (declaration.mentions[i].ndim) result.push_back({ndim, i});
  }
  for (std::size_t i = 0; i < declaration.output_names.size(); ++i) result.push_back({output, i});
  return result;
}

std::string template_list(const TemplateArguments& arguments) {
  if (arguments.empty()) return "";
  std::string result;
  for (const auto& [name, value] : arguments) result += (result.empty() ? "<" : ", ") + render(value);
  return result + ">";
}

GeneratedSource generate(const Declaration& declaration, std::span<const Array> inputs,
                         std::span<const Dtype> output_dtypes, const TemplateArguments& template_arguments) {
  const std::string list = template_list(template_arguments);
  const std::string name = kernel_name(declaration, inputs, output_dtypes, list);

  std::vector<std::string> parameters;
  for (const Binding& binding : bindings(declaration, inputs)) {
    std::string text;
    if (binding.kind == Binding::Kind::output) {
      const std::string_view type = metal_name(output_dtypes[binding.array]);
      text = declaration.atomic_outputs ? fmt::format("device atomic<{}>* ", type) : fmt::format("device {}* ", type);
      text += declaration.output_names[binding.array];
    } else {
      const Array& array = inputs[binding.array];
      const std::string& input_name = declaration.input_names[binding.array];
      switch (binding.kind) {
        case Binding::Kind::shape: text = fmt::format("const constant int* {}_shape", input_name); break;
        case Binding::Kind::strides: text = fmt::format("const constant int64_t* {}_strides", input_name); break;
        case Binding::Kind::ndim: text = fmt::format("const constant int& {}_ndim", input_name); break;
        default:
          text = fmt::format("const {} {}{} {}", array.size() < smallest_device_array ? "constant" : "device",
                             metal_name(array.dtype), array.shape.empty() ? "&" : "*", input_name);
      }
    }
    parameters.push_back(fmt::format("  {} [[buffer({})]]", text, parameters.size()));
  }
  for (const Attribute* attribute : declaration.attributes) {
    parameters.push_back(fmt::format("  {} {} [[{}]]", attribute->type, attribute->name, attribute->name));
  }

  std::string text = declaration.header;
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (!template_arguments.empty()) {
    std::string formals;
    for (const auto& [formal, value] : template_arguments) {
      formals += fmt::format("{}{} {}", formals.empty() ? "" : ", ", parameter_kind(value), formal);
    }
    text += fmt::format("template <{}>\n", formals);
  }
  text += fmt::format("[[kernel]] void {}(\n{}) {{\n{}\n}}\n", name, fmt::join(parameters, ",\n"), declaration.source);
  if (!template_arguments.empty()) {
    text += fmt::format("\ntemplate [[host_name(\"{0}\")]] [[kernel]] decltype({0}{1}) {0}{1};\n", name, list);
  }
  return {name, std::move(text)};
}

}  // namespace metalloid::fast
