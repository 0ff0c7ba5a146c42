// A function's table of exceptions (.gcc_except_table), as compilers write it for C++ and Objective-C: the landing pad
// of a call, and what is caught there.
#pragma once

#include <unwind.h>

#include <cstdint>

namespace metalloid::objective_c {

// What a landing pad does: `filter` is its switch value, 0 for a cleanup, negative for a specification of exceptions.
struct Action {
  std::intptr_t filter = 0;
  const void* type = nullptr;  // of what a handler catches; null: of everything
};

class CallSite {
 public:
  // The call in which the function of this context is.
  explicit CallSite(_Unwind_Context* context);

  std::uintptr_t landing_pad() const { return landing_pad_; }  // 0: there is none
  const std::uint8_t* table() const { return table_; }
  const std::uint8_t* action() const { return action_; }
  std::uintptr_t types() const { return reinterpret_cast<std::uintptr_t>(types_); }

  // Calls with each action in its order, until one is taken.
  template <typename Take>
  bool any_action(const Take& take) const {
    Action action;
    for (const std::uint8_t* at = action_; at;) {
      at = next_action(at, action);
      if (take(action)) return true;
    }
    return false;
  }

  // A specification allows a list of types.
  template <typename Take>
  bool any_allowed(std::intptr_t filter, const Take& take) const {
    for (const std::uint8_t* at = types_ - filter - 1;;) {
      const std::uintptr_t index = read_unsigned(at);
      if (index == 0) return false;
      if (take(type_at(index))) return true;
    }
  }

 private:
  const std::uint8_t* next_action(const std::uint8_t* at, Action& action) const;
  const void* type_at(std::uintptr_t index) const;
  static std::uintptr_t read_unsigned(const std::uint8_t*& at);

  _Unwind_Context* context_;
  const std::uint8_t* table_ = nullptr;
  const std::uint8_t* types_ = nullptr;  // behind the last one
  std::uint8_t type_encoding_ = 0;
  std::uintptr_t landing_pad_ = 0;
  const std::uint8_t* action_ = nullptr;
};

// Classes of Objective-C are in the same list as C++'s types, by their names. Null: it is a type of C++'s.
const char* class_name_in_table(const void* type);

}  // namespace metalloid::objective_c
