// Binding SPECs to a kernel's arguments.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "argument.h"
#include "launch.h"
#include "numbers.h"
#include "output.h"
#include "value.h"

namespace metalloid::tool {
namespace {

std::optional<std::uint32_t> as_index(std::string_view text) { return parse_number<std::uint32_t>(text); }

// Tensors share the buffers' indices.
bool takes_memory(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor;
}

std::string describe_buffers(const KernelInfo& info) {
  std::string text;
  for (const ArgumentInfo& argument : info.arguments) {
    if (!takes_memory(argument)) continue;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", argument.index, argument.name, argument.type.name);
  }
  return text.empty() ? "the kernel takes no buffers" : fmt::format("the kernel takes {}", text);
}

const ArgumentInfo& find_buffer(const KernelInfo& info, std::string_view target, std::string_view spec) {
  const auto index = as_index(target);
  for (const ArgumentInfo& argument : info.arguments) {
    if (takes_memory(argument) && (index ? argument.index == *index : argument.name == target)) {
      return argument;
    }
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("kernel '{}' has no buffer argument '{}' for '{}'; {}", info.name, shortened(target),
                          shortened(spec), describe_buffers(info)));
}

// Whether all that a struct has is of that kind.
bool has_only(const TypeInfo& type, ElementType kind) {
  if (type.members.empty()) return type.scalar == kind;
  return std::ranges::all_of(type.members, [&](const StructMember& member) { return has_only(member.type[0], kind); });
}

// Vectors, matrices and atomics take arrays of their elements, structs those of their only kind, or their bytes, and
// bools bytes. Pointers to char, uchar and void stand for memory of any kind.
// Returns what is wrong, if anything is.
std::string kind_problem(const ArgumentInfo& argument, const ArgumentSpec& spec, ElementType given) {
  ElementType wanted = argument.type.scalar;
  const bool is_char = (wanted == ElementType::int8 || wanted == ElementType::uint8) && argument.type.rows == 1;
  if (is_char && !argument.is_reference && !argument.type.is_atomic && !spec.is_scalar) return {};
  if (wanted == ElementType::none) {
    if (argument.type.members.empty() || has_only(argument.type, given)) return {};
    wanted = ElementType::uint8;
  }
  if (wanted == given || (wanted == ElementType::boolean && given == ElementType::uint8)) return {};
  const bool is_struct = !argument.type.members.empty();
  return fmt::format("argument '{}' ({}): '{}' has {} elements, but {}", argument.name, argument.type.name,
                     shortened(spec.text), name_of(given),
                     is_struct
                         ? fmt::format("a struct takes {{MEMBER=VALUE,...}} or its {} bytes as u8", argument.type.size)
                         : fmt::format("its elements are {}", name_of(wanted)));
}

// A SPEC that would do for an argument, for people to complete.
std::string example_spec(const ArgumentInfo& argument) {
  const TypeInfo& type = argument.type;
  if (argument.is_reference) return fmt::format("--arg {}={}", argument.name, example_value(type));
  const std::string kind(type.scalar == ElementType::none ? "u8" : name_of(type.scalar));
  return fmt::format("--arg '{}={}[...]=...'", argument.name, kind);
}

// Metal's words for the first, as a dispatch says it, and what to type for all.
void check_missing(const KernelInfo& info, const std::set<std::uint32_t>& bound) {
  const ArgumentInfo* first = nullptr;
  std::string specs;
  for (const ArgumentInfo& argument : info.arguments) {
    if (!takes_memory(argument) || !argument.is_active || !argument.is_used || bound.contains(argument.index)) continue;
    if (first == nullptr) first = &argument;
    specs += " " + example_spec(argument);
  }
  if (first == nullptr) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("kernel '{}': missing buffer binding at index {} for argument '{}'; add{}", info.name,
                          first->index, first->name, specs));
}

// Where a finding about an argument is shown.
Finding type_finding(const KernelInfo& kernel, const ArgumentInfo& argument, std::string message) {
  Finding finding;
  finding.kind = CheckClass::argument_width;
  finding.severity = Severity::warning;
  finding.kernel = kernel.name;
  finding.message = std::move(message);
  finding.fix = "give elements of the argument's type";
  finding.memory = argument.name;
  finding.index = argument.index;
  finding.steps.push_back({"", {kernel.source_file, kernel.source_line, 0, "", {}, ""}, {}, ""});
  return finding;
}

// What is shown of memory that is another argument's: elements of the argument's own type.
Array view_of(const ArgumentInfo& argument, std::size_t bytes) {
  const ElementType kind = argument.type.scalar == ElementType::none ? ElementType::uint8 : argument.type.scalar;
  return make_array(kind, {bytes / size_of(kind)});
}

bool is_bound_undefined(const Dispatch::Binding& binding) {
  if (const auto* bound = std::get_if<Dispatch::BufferBinding>(&binding)) return bound->buffer.is_undefined();
  const auto* tensor = std::get_if<Dispatch::TensorBinding>(&binding);
  return tensor != nullptr && tensor->buffer.is_undefined();
}

}  // namespace

// Which argument each SPEC is for.
std::vector<const ArgumentInfo*> CommandLineLaunch::targets_of(const std::vector<ArgumentSpec>& specs) const {
  std::set<std::uint32_t> taken;
  std::vector<const ArgumentInfo*> targets(specs.size());
  auto take = [&](std::size_t i, std::string_view target) {
    targets[i] = &find_buffer(kernel_.info(), target, specs[i].text);
    if (!taken.insert(targets[i]->index).second) {
      throw UsageError(
          fmt::format("argument '{}': buffer {} is bound twice", shortened(specs[i].text), targets[i]->index));
    }
  };
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].target.empty()) take(i, specs[i].target);
  }
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].target.empty()) continue;
    while (taken.contains(next)) ++next;
    take(i, std::to_string(next));
  }
  return targets;
}

void CommandLineLaunch::bind(const LaunchOptions& options) {
  std::vector<ArgumentSpec> specs;
  for (const std::string& text : options.arguments) specs.push_back(parse_argument(text));
  const std::vector<const ArgumentInfo*> targets = targets_of(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) arguments_.push_back({*targets[i], {}});
  buffers_.resize(specs.size());
  memory_.resize(specs.size());
  copies_.resize(specs.size());
  is_writable_.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].source != ArgumentSpec::Source::alias) bind_own(i, specs[i], options);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].source == ArgumentSpec::Source::alias) bind_alias(i, specs[i]);
  }
  std::set<std::uint32_t> bound;
  for (const ArgumentInfo* target : targets) bound.insert(target->index);
  check_missing(kernel_.info(), bound);
}

void CommandLineLaunch::bind_own(std::size_t i, const ArgumentSpec& spec, const LaunchOptions& options) {
  const ArgumentInfo& info = arguments_[i].info;
  Array& array = arguments_[i].array;
  const bool has_arguments_type = spec.source == ArgumentSpec::Source::of_argument;
  array =
      has_arguments_type ? parse_value(spec.value, info.type, spec.text) : materialise(spec, options.seed + info.index);
  const bool is_value = (spec.is_scalar || has_arguments_type) && info.address_space == AddressSpace::constant;
  std::string problem = has_arguments_type ? "" : kind_problem(info, spec, array.kind);
  if (!problem.empty()) {
    if (!options.takes_other_types) {
      throw Error(ErrorCode::invalid_argument, fmt::format("kernel '{}', {}", kernel_.info().name, problem));
    }
    // Of a value's size the dispatch speaks itself.
    if (!is_value || array.bytes.size() == info.type.size) {
      findings_.push_back(type_finding(kernel_.info(), info, std::move(problem)));
    }
  }
  if (is_value) {
    dispatch_.bytes(info.index, array.bytes);
    return;
  }
  if (options.on_device) {
    buffers_[i].emplace(kernel_.device(), array.bytes.size());
  } else {
    buffers_[i].emplace(array.bytes.size());
  }
  if (buffers_[i]->contents()) {
    memory_[i] = buffers_[i]->as<std::byte>();
  } else {
    memory_[i] = copies_[i] = std::vector<std::byte>(array.bytes.size());
  }
  is_writable_[i] = info.access == Access::read_write;
  const Buffer& buffer = *buffers_[i];
  bind_memory(info, spec.source == ArgumentSpec::Source::undefined ? buffer.as_undefined() : buffer, array.shape);
}

void CommandLineLaunch::bind_memory(const ArgumentInfo& info, const Buffer& buffer,
                                    const std::vector<std::size_t>& shape) {
  if (info.kind != ArgumentKind::tensor) {
    dispatch_.buffer(info.index, buffer);
    return;
  }
  // The shape is in C order, a tensor's extents begin with the fastest dimension.
  const std::vector<std::int64_t> extents(shape.rbegin(), shape.rend());
  dispatch_.tensor(info.index, buffer, extents);
}

void CommandLineLaunch::bind_alias(std::size_t i, const ArgumentSpec& spec) {
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(fmt::format("argument '{}': {}", shortened(spec.text), reason));
  };
  const BoundArgument& other = find(spec.alias);
  const auto origin = static_cast<std::size_t>(&other - arguments_.data());
  if (!buffers_[origin]) {
    refuse(fmt::format("'{}' has no memory of its own", other.info.name));  // by value, or another one's
  }
  const std::span<std::byte> memory = memory_[origin];
  if (spec.alias_offset > memory.size()) {
    refuse(fmt::format("'{}' has {} bytes", other.info.name, memory.size()));
  }
  const ArgumentInfo& info = arguments_[i].info;
  const bool is_tensor = info.kind == ArgumentKind::tensor;
  if (is_tensor && (spec.alias_offset != 0 || info.type.scalar != other.array.kind)) {
    refuse("a tensor takes the whole memory of an argument with elements of its own type");
  }
  memory_[i] = memory.subspan(spec.alias_offset);
  arguments_[i].array = is_tensor ? make_array(other.array.kind, other.array.shape) : view_of(info, memory_[i].size());
  is_writable_[origin] = is_writable_[origin] || info.access == Access::read_write;
  const Buffer buffer =
      copies_[origin].empty()
          ? Buffer::wrap(memory_[i].data(), memory_[i].size())
          : Buffer::wrap(kernel_.device(), buffers_[origin]->gpu_address() + spec.alias_offset, memory_[i].size());
  const bool is_undefined = is_bound_undefined(dispatch_.bindings().at(other.info.index));
  bind_memory(info, is_undefined ? buffer.as_undefined() : buffer, arguments_[i].array.shape);
}

std::span<const std::byte> CommandLineLaunch::memory(std::size_t argument) const { return memory_[argument]; }

}  // namespace metalloid::tool
