// Loads object code into this process. Code can call only what allowed_symbol() knows.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace metalloid::engines::cpu {

// The closed list: the C math library, memory functions and compiler helpers.
void* allowed_symbol(std::string_view name);

class LoadedCode {
 public:
  // `more` offers an engine's own entry points: address of a name, or null. Throws Error(internal) for broken bytes
  // and Error(unsupported) for a symbol that is on neither list.
  LoadedCode(std::span<const char> object, void* (*more)(std::string_view name));
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  // Address of a global symbol of the object, null if it has none of that name.
  void* find(std::string_view name) const;

  bool contains(const void* instruction) const;
  // "file.metal:12" of an instruction address inside the code, if debug information says.
  std::optional<std::string> source_line(const void* instruction) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace metalloid::engines::cpu
