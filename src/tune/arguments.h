// Copies of a dispatch's arguments that candidates run on: put back before every run, compared after it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/memory.h"
#include "metalloid/tune.h"

namespace metalloid::tuning {

// One element as a number; of no known type: a byte.
std::string element_text(ElementType kind, const std::byte* address);

// Says how `result` differs from `expected`, or nothing. See TuneOptions::tolerance. Bytes behind the last whole
// element are compared as bytes.
std::optional<std::string> compare_elements(ElementType kind, std::span<const std::byte> expected,
                                            std::span<const std::byte> result, std::optional<double> tolerance);

class TuneArguments {
 public:
  // Memory that several arguments share stays shared. `dispatch` must outlive this.
  TuneArguments(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options);
  ~TuneArguments();  // puts back what lies outside the copies
  TuneArguments(const TuneArguments&) = delete;
  TuneArguments& operator=(const TuneArguments&) = delete;

  // The dispatch on the copies.
  const Dispatch& dispatch() const { return copied_; }
  // All writable memory as it was.
  void restore();
  void keep_results();
  std::optional<std::string> difference() const;

 private:
  // Memory that arguments lie in, wherever it is, and its copy, which is where the kernel reaches it fastest.
  struct Region {
    engines::Memory* memory = nullptr;
    std::byte* original = nullptr;  // in that memory
    std::size_t size = 0;
    bool writable = false;
    std::string arguments;  // their names, for messages
    std::vector<std::byte> before;
    std::optional<Buffer> copy;

    bool has(const engines::Memory& other, const std::byte* address) const;
    void fill() const { copy->write(0, before); }
  };
  // A writable argument's part of a region.
  struct Output {
    std::string name;
    ElementType elements;
    Buffer memory;  // of the copy, or of `reached`
    std::vector<std::byte> expected;
  };
  struct Reached {
    Buffer memory;
    std::vector<std::byte> before;
  };

  void add_region(engines::Memory& memory, std::byte* start, std::size_t size, bool writable, const std::string& name);
  Buffer copy_of(const engines::Memory& memory, const std::byte* original, std::size_t size) const;

  const Device device_;
  Dispatch copied_;
  std::vector<Region> regions_;
  std::vector<Output> outputs_;
  std::vector<Reached> reached_;
  std::optional<double> tolerance_;
};

}  // namespace metalloid::tuning
