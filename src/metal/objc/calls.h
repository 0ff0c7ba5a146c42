// Calls whose types are known at run time alone: where a processor's calling convention puts arguments and results
// (System V's for x86-64), and messages that no method answers, as they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "metal/objc/runtime.h"
#include "metal/objc/type_encoding.h"

namespace metalloid::objective_c {

// What a call finds in registers and on the stack, and leaves in registers. calls_x86_64.S knows the layout.
struct Registers {
  std::uint64_t general[6];
  alignas(16) std::uint8_t vectors[8][16];
  std::uint64_t vector_count;
  const std::uint64_t* stack;
  std::uint64_t stack_words;
  std::uint64_t returns_x87;
  std::uint64_t general_results[2];
  alignas(16) std::uint8_t vector_results[2][16];
  alignas(16) std::uint8_t x87_result[16];
};

// Why this call cannot be made; empty: it can.
std::string why_not_callable(const Type& result, std::span<const Type> arguments);

// Of each argument the bytes, the receiver's and the selector's first, and room for the result.
void send_message(const Type& result, std::span<const Type> arguments, std::span<void* const> values, void* returned);

// A message as it came: reads its arguments, and at the end writes its result.
void read_arguments(const Registers& registers, const Type& result, std::span<const Type> arguments,
                    std::span<void* const> values);
void write_result(Registers& registers, const Type& result, const void* value);

// Foundation's: takes the message, or says to whom it goes instead.
using Forwarder = void* (*)(void* receiver, Selector* selector, Registers& registers);
void set_forwarder(Forwarder forwarder);

}  // namespace metalloid::objective_c

// In the place of the code of a method that is not there.
extern "C" {
void* metalloid_forward(void* receiver, metalloid::objective_c::Selector* selector, ...);
void* metalloid_forward_stret(void* receiver, metalloid::objective_c::Selector* selector, ...);
}
