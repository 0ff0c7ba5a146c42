#include "engines/cuda/code/code_file.h"

#include <cstring>

#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

constexpr std::string_view magic = "metalloid PTX 2\n";

}  // namespace

std::string write_code_file(const KernelFacts& facts, std::string_view ptx) {
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(&facts), sizeof(facts));
  return bytes.append(ptx);
}

CodeFile read_code_file(std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  if (!text.starts_with(magic) || text.size() < magic.size() + sizeof(KernelFacts)) {
    throw Error(ErrorCode::internal, "no code of the CUDA engine");
  }
  CodeFile file;
  std::memcpy(&file.facts, text.data() + magic.size(), sizeof(KernelFacts));
  file.ptx = text.substr(magic.size() + sizeof(KernelFacts));
  return file;
}

}  // namespace metalloid::engines::cuda
