#include "engines/cuda/code/code_file.h"

#include <cstring>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

// Of one length.
constexpr std::string_view ptx_magic = "metalloid PTX   3\n", cubin_magic = "metalloid cubin 2\n";

}  // namespace

std::string write_code_file(const CodeFile& file) {
  std::string bytes(file.is_assembled ? cubin_magic : ptx_magic);
  bytes.append(reinterpret_cast<const char*>(&file.facts), sizeof(file.facts));
  return bytes.append(file.code);
}

CodeFile read_code_file(std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  CodeFile file;
  file.is_assembled = text.starts_with(cubin_magic);
  constexpr std::size_t head = ptx_magic.size() + sizeof(KernelFacts);
  if (!(file.is_assembled || text.starts_with(ptx_magic)) || text.size() < head) {
    throw Error(ErrorCode::internal, "no code of the CUDA engine");
  }
  std::memcpy(&file.facts, text.data() + ptx_magic.size(), sizeof(KernelFacts));
  file.code = text.substr(head);
  return file;
}

}  // namespace metalloid::engines::cuda
