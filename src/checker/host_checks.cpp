#include "checker/host_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "checker/report/words.h"

namespace metalloid::checker {
namespace {

bool is_integer(ElementType type) {
  const auto kind = info_of(type).kind;
  return kind == ElementTypeInfo::Kind::signed_integer || kind == ElementTypeInfo::Kind::unsigned_integer;
}

// Of complex numbers, that of their parts: kernels take them as pairs.
ElementType part_of(ElementType type) { return type == ElementType::complex64 ? ElementType::float32 : type; }

// Hosts keep memory of any kind in these, and packed numbers.
bool is_byte(ElementType type) { return type == ElementType::int8 || type == ElementType::uint8; }

// Pointers to char, uchar and void stand for memory of any kind.
bool takes_any_memory(const TypeInfo& type) {
  return type.scalar == ElementType::none || (is_byte(type.scalar) && type.rows == 1 && !type.is_atomic);
}

std::string head_of(const ArgumentInfo& argument) {
  return fmt::format("argument '{}' at index {}", argument.name, argument.index);
}

// "int64, 8 bytes each"
std::string words_of(ElementType type) {
  return fmt::format("{}, {} each", info_of(type).library_name, counted(size_of(type), "byte"));
}

// How to give a number of that type.
std::string how_to_give(const TypeInfo& type) {
  const ElementTypeInfo& scalar = info_of(type.scalar);
  const bool is_scalar = type.rows == 1 && type.columns == 1 && type.array_length == 0;
  if (type.scalar == ElementType::none || !is_scalar)
    return fmt::format("give the {} of a {}", counted(type.size, "byte"), type.name);
  return fmt::format("give a value of {}, {} in the host's language", counted(scalar.size, "byte"),
                     scalar.library_name);
}

// A value that is smaller than its type. No bytes at all for a pointer are an array of no elements.
bool is_short(const ArgumentInfo& argument, const HostArgument& bound) {
  return bound.size < bytes_needed(argument.type) && (bound.size != 0 || argument.is_reference);
}

WidthProblem differing_formats(const ArgumentInfo& argument, ElementType given) {
  // A kernel that takes half for float reads wrong numbers, and writes twice as far as the memory reaches.
  return {Severity::error,
          fmt::format("{} has the type {}, whose elements are {}; those given are {}", head_of(argument),
                      argument.type.name, name_of(argument.type.scalar), name_of(given)),
          "convert them, or bind the memory without a type of elements if the same memory is meant"};
}

std::optional<WidthProblem> problem_of_value(const ArgumentInfo& argument, const HostArgument& bound) {
  const TypeInfo& type = argument.type;
  if (is_short(argument, bound)) {
    const std::uint64_t needed = bytes_needed(type);
    return WidthProblem{Severity::error,
                        fmt::format("{} needs {} for its type {}; {} given", head_of(argument), counted(needed, "byte"),
                                    type.name, bound.size),
                        how_to_give(type)};
  }
  if (differ_in_format(type.scalar, bound.elements)) return differing_formats(argument, bound.elements);
  if (!argument.is_reference) return std::nullopt;  // how many a pointer leads to is the kernel's affair
  // Hosts that know one type of integers give all of them in it; the number is the same in the kernel's type.
  if (bound.size > type.size && bound.is_extended && is_integer(bound.elements) && is_integer(type.scalar)) {
    return WidthProblem{Severity::note,
                        fmt::format("{} has the type {} of {}; {} bytes are given for it, whose number is the same",
                                    head_of(argument), type.name, counted(type.size, "byte"), bound.size),
                        ""};
  }
  if (bound.size > type.size) {
    return WidthProblem{
        Severity::warning,
        fmt::format("{} has the type {} of {}; {} bytes are given for it, and the kernel sees the first {} of them",
                    head_of(argument), type.name, counted(type.size, "byte"), bound.size, type.size),
        how_to_give(type)};
  }
  const bool is_other_kind = (is_floating(type.scalar) && is_integer(bound.elements)) ||
                             (is_integer(type.scalar) && is_floating(bound.elements));
  if (is_other_kind && !is_byte(bound.elements)) {
    return WidthProblem{
        Severity::warning,
        fmt::format("{} has the type {}; the value given for it is of type {}, and the kernel takes its "
                    "bits as they are",
                    head_of(argument), type.name, info_of(bound.elements).library_name),
        how_to_give(type)};
  }
  return std::nullopt;
}

std::optional<WidthProblem> problem_of_elements(const ArgumentInfo& argument, ElementType given) {
  const TypeInfo& type = argument.type;
  if (given == ElementType::none || type.scalar == ElementType::none) return std::nullopt;
  if (differ_in_format(type.scalar, given)) return differing_formats(argument, given);
  if (takes_any_memory(type) || is_byte(given)) return std::nullopt;
  if (size_of(part_of(given)) == size_of(part_of(type.scalar))) return std::nullopt;
  return WidthProblem{Severity::warning,
                      fmt::format("{} has the type {}, whose elements are {}; those given are {}", head_of(argument),
                                  type.name, words_of(type.scalar), words_of(given)),
                      fmt::format("convert them to {}, or let the kernel take {}", info_of(type.scalar).library_name,
                                  info_of(given).metal_name)};
}

// As far as the kernel is meant to reach.
std::uint64_t reach_of(const ArgumentInfo& argument, const HostArgument& bound) {
  return argument.is_reference ? std::min(bytes_needed(argument.type), bound.size) : bound.size;
}

struct Overlap {
  Severity severity;
  std::string words;
};

std::optional<Overlap> overlap_of(const ArgumentInfo& one, const HostArgument& first, const ArgumentInfo& two,
                                  const HostArgument& second) {
  if (first.kind != HostArgument::Kind::buffer || second.kind != HostArgument::Kind::buffer) return std::nullopt;
  if (first.space != second.space) return std::nullopt;
  if (one.access == Access::read && two.access == Access::read) return std::nullopt;
  const std::uint64_t first_reach = reach_of(one, first), second_reach = reach_of(two, second);
  // Differences, for a sum of address and size may be 0.
  const bool overlaps = first.address <= second.address ? second.address - first.address < first_reach
                                                        : first.address - second.address < second_reach;
  if (!overlaps || first_reach == 0 || second_reach == 0) return std::nullopt;
  const bool are_same = first.address == second.address;
  if (are_same && (first.base == second.base || first_reach == second_reach)) {
    return Overlap{Severity::note,
                   fmt::format("the same memory of {}", counted(std::max(first_reach, second_reach), "byte"))};
  }
  // Parts of one buffer: unless the first is one object, nobody knows how far it is meant to reach.
  const bool is_object = first.address < second.address ? one.is_reference : two.is_reference;
  if (first.base == second.base && !is_object) return std::nullopt;
  const std::uint64_t begin = std::max(first.address, second.address);
  const std::uint64_t end_of_first = first_reach - (begin - first.address);
  const std::uint64_t end_of_second = second_reach - (begin - second.address);
  const std::uint64_t shared = std::min(end_of_first, end_of_second);
  return Overlap{Severity::warning,
                 fmt::format("memory that overlaps: the second begins {} {} the first, and {} of both",
                             counted(first.address <= second.address ? second.address - first.address
                                                                     : first.address - second.address,
                                     "byte"),
                             first.address <= second.address ? "behind" : "in front of",
                             counted(shared, "byte") + (shared == 1 ? " is" : " are"))};
}

Finding finding_of(const KernelInfo& kernel, CheckClass kind, Severity severity, const ArgumentInfo& argument) {
  Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.kernel = kernel.name;
  finding.memory = argument.name;
  finding.index = argument.index;
  FindingStep& step = finding.steps.emplace_back();
  step.place.file = kernel.source_file;
  step.place.line = kernel.source_line;
  return finding;
}

}  // namespace

std::uint64_t bytes_needed(const TypeInfo& type) {
  const bool is_vector_of_three = type.columns == 1 && type.rows == 3 && type.array_length == 0;
  return is_vector_of_three ? std::uint64_t{3} * size_of(type.scalar) : type.size;
}

bool is_refused(const ArgumentInfo& argument, const HostArgument& bound) {
  if (bound.kind == HostArgument::Kind::none) return false;
  return (bound.kind == HostArgument::Kind::value && is_short(argument, bound)) ||
         differ_in_format(argument.type.scalar, bound.elements);
}

std::optional<WidthProblem> width_problem(const ArgumentInfo& argument, const HostArgument& bound) {
  if (bound.kind == HostArgument::Kind::value) return problem_of_value(argument, bound);
  if (bound.kind == HostArgument::Kind::buffer) return problem_of_elements(argument, bound.elements);
  return std::nullopt;
}

std::vector<Finding> check_host(const KernelInfo& kernel, std::span<const HostArgument> bound) {
  std::vector<Finding> findings;
  const std::size_t count = std::min(kernel.arguments.size(), bound.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ArgumentInfo& argument = kernel.arguments[i];
    if (!argument.is_active) continue;
    if (auto problem = width_problem(argument, bound[i])) {
      Finding& finding =
          findings.emplace_back(finding_of(kernel, CheckClass::argument_width, problem->severity, argument));
      finding.message = std::move(problem->message);
      finding.fix = std::move(problem->fix);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      const ArgumentInfo &one = kernel.arguments[i], &two = kernel.arguments[j];
      if (!one.is_active || !two.is_active) continue;
      const auto overlap = overlap_of(one, bound[i], two, bound[j]);
      if (!overlap) continue;
      Finding& finding =
          findings.emplace_back(finding_of(kernel, CheckClass::overlapping_arguments, overlap->severity, two));
      finding.message = fmt::format("arguments '{}' at index {} and '{}' at index {} are bound to {}", one.name,
                                    one.index, two.name, two.index, overlap->words);
      if (overlap->severity != Severity::note) finding.fix = "bind memory of its own to each, or exactly the same";
    }
  }
  return findings;
}

}  // namespace metalloid::checker
