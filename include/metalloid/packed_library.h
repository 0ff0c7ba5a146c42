// Libraries as bytes that a file can hold (`.air`, `.metallib`): sources with all files that they include and the
// options that they are compiled with, between the marks MTLB and ENDT as in files of Apple's tools. Code is made where
// they are loaded.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/library.h"

namespace metalloid {

// One source of a packed library. Cheap to copy.
class PackedLibrary {
 public:
  const std::vector<std::string>& kernel_names() const;  // in source order
  Library load(const Device& device) const;              // throws what Device::make_library does

  struct State;
  explicit PackedLibrary(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Throws input_output if a file that the library includes can no longer be read as it was.
std::string pack(const Library& library);
std::string pack(std::span<const PackedLibrary> libraries);
// Throws input_output for other bytes, saying what they are.
std::vector<PackedLibrary> unpack(std::string_view bytes);

// The files that a library's source has included, by absolute path.
std::vector<std::string> included_files_of(const Library& library);

}  // namespace metalloid
