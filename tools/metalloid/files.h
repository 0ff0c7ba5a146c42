// Files that the command line names: what is read must be a file, what is written appears whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace metalloid::tool {

// Why a file cannot be read as Metal source, in words; empty if it can. Pipes only if they are open already
// (/dev/stdin, /dev/fd/63), for others may never have a writer.
std::string reason_not_source(const std::filesystem::path& file);

// A regular file, read from its beginning.
class InputFile {
 public:
  // Throws Error(input_output).
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::size_t size() const { return size_; }
  // Fills as much of the memory as there are bytes left, and says how much. Throws Error(input_output).
  std::size_t read(void* memory, std::size_t bytes);

 private:
  std::filesystem::path path_;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

// A file that gets its name, in place of an older one, when it is complete. Devices, pipes and files in folders that
// take no new ones are written in place.
class OutputFile {
 public:
  // Throws Error(input_output) for what cannot be written, so that this is known before the work is done.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Both throw Error(input_output).
  void write(std::string_view bytes);
  void finish();

  // Whether both would end under one name.
  bool is_same_file(const OutputFile& other) const { return in_place_ == other.in_place_ && target_ == other.target_; }

 private:
  void open_in_place();
  bool open_beside();
  std::string name_beside() const;
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;    // as given
  std::filesystem::path target_;  // without symbolic links
  std::string temporary_;         // its name until it is complete; empty where the system can do without
  bool in_place_ = false;
  int descriptor_ = -1;
};

}  // namespace metalloid::tool
