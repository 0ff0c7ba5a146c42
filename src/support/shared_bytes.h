// Bytes that never change, in memory that other processes can map.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/descriptor.h"

namespace metalloid::support {

class SharedBytes {
 public:
  // In memory of this process alone where the system has no other (no memfd_create, a limit on the size of files).
  explicit SharedBytes(std::string bytes);
  // What a file holds from `offset` on. Nothing if it cannot be mapped.
  static std::optional<SharedBytes> map(Descriptor file, std::size_t offset = 0);

  std::string_view view() const;
  // Of a file that holds the bytes from offset() to its end; negative if they are in this process alone.
  int descriptor() const { return file_.get(); }
  std::size_t offset() const { return offset_; }

 private:
  struct Mapping {
    void* address;
    std::size_t size;
    ~Mapping();
  };
  SharedBytes() = default;
  std::string own_;
  Descriptor file_;
  std::size_t offset_ = 0;
  std::unique_ptr<Mapping> mapping_;  // of the whole file
};

// An empty file that exists in memory only; nothing if the system has none.
Descriptor make_memory_file(const char* name);
bool write_all(int file, std::string_view bytes);

}  // namespace metalloid::support
