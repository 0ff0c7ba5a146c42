// What is wrong with a kernel's arguments before it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metalloid/check.h"
#include "metalloid/reflection.h"

namespace metalloid::checker {

// What a host binds to one argument.
struct HostArgument {
  enum class Kind : std::uint8_t { none, buffer, value };

  Kind kind = Kind::none;  // none: nothing is bound, or nothing of memory
  // Of a buffer: in which space of addresses it is, for those of two do not compare, and where its owner's part begins.
  const void* space = nullptr;
  std::uint64_t base = 0;
  std::uint64_t address = 0;                 // where the argument begins
  std::uint64_t size = 0;                    // bytes from there, or of the value
  ElementType elements = ElementType::none;  // that the host says they are
  bool is_extended = false;                  // a value: the bytes behind the argument's type only repeat its sign
};

// The fewest bytes that an argument needs. A reference is one whole object; a pointer leads to at least one. The room
// after a vector of three is not needed: hosts bind three numbers to a uint3.
std::uint64_t bytes_needed(const TypeInfo& type);

// Whether a dispatch refuses it: too few bytes for a value, or another floating-point format.
bool is_refused(const ArgumentInfo& argument, const HostArgument& bound);

// Bytes or elements whose width or format is not the argument's: an error if it is refused, else a warning, for the
// checker alone.
struct WidthProblem {
  Severity severity;
  std::string message, fix;
};
std::optional<WidthProblem> width_problem(const ArgumentInfo& argument, const HostArgument& bound);

// `bound` stands beside the kernel's arguments.
std::vector<Finding> check_host(const KernelInfo& kernel, std::span<const HostArgument> bound);

}  // namespace metalloid::checker
