#include "engines/cpu_shared/code/loader.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "metalloid/error.h"

namespace metalloid::engines::cpu {
namespace {

class Resolver : public llvm::LegacyJITSymbolResolver {
 public:
  explicit Resolver(void* (*more)(std::string_view)) : more_(more) {}

  llvm::JITSymbol findSymbol(const std::string& name) override {
    void* address = more_ ? more_(name) : nullptr;
    if (!address) address = allowed_symbol(name);
    if (!address && missing_.empty()) missing_ = name;
    // A missing symbol must not end the process: it gets an address, and the load fails afterwards.
    return {address ? reinterpret_cast<llvm::JITTargetAddress>(address) : 1, llvm::JITSymbolFlags::Exported};
  }
  llvm::JITSymbol findSymbolInLogicalDylib(const std::string&) override { return nullptr; }

  const std::string& missing() const { return missing_; }

 private:
  void* (*more_)(std::string_view);
  std::string missing_;
};

// Code, constants and the table of called functions refer to each other within 2 GiB. In a crowded address space
// sections with memory of their own may lie further apart, so all of them share one block.
class OneBlock final : public llvm::SectionMemoryManager {
 public:
  OneBlock() : SectionMemoryManager(nullptr, /*ReserveAlloc=*/true) {}

  void reserveAllocationSpace(std::uintptr_t code, llvm::Align code_alignment, std::uintptr_t constants,
                              llvm::Align constants_alignment, std::uintptr_t data,
                              llvm::Align data_alignment) override {
    // The linker does not count the table's entries for functions of the process; allowed_symbol() bounds them.
    constexpr std::uintptr_t table_size = 16 << 10;
    SectionMemoryManager::reserveAllocationSpace(code, code_alignment, constants, constants_alignment,
                                                 data + table_size, std::max(data_alignment, llvm::Align(16)));
  }
};

}  // namespace

struct LoadedCode::State {
  std::string bytes;
  std::unique_ptr<llvm::object::ObjectFile> object;
  OneBlock memory;
  Resolver resolver;
  llvm::RuntimeDyld linker;
  std::unique_ptr<llvm::RuntimeDyld::LoadedObjectInfo> loaded;

  std::optional<llvm::object::SectionedAddress> place_of(const void* instruction) const;

  explicit State(void* (*more)(std::string_view)) : resolver(more), linker(memory, resolver) {}
};

LoadedCode::LoadedCode(std::span<const char> object, void* (*more)(std::string_view))
    : state_(std::make_unique<State>(more)) {
  state_->bytes.assign(object.begin(), object.end());
  auto parsed = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(state_->bytes, "kernel"));
  if (!parsed) {
    throw Error(ErrorCode::internal, "cannot read object code: " + llvm::toString(parsed.takeError()));
  }
  state_->object = std::move(*parsed);
  state_->loaded = state_->linker.loadObject(*state_->object);
  if (!state_->linker.hasError()) state_->linker.resolveRelocations();
  if (!state_->resolver.missing().empty()) {
    throw Error(ErrorCode::unsupported, fmt::format("the kernel calls '{}', which has no definition",
                                                    llvm::demangle(state_->resolver.missing())));
  }
  std::string message;
  if (state_->linker.hasError() || state_->memory.finalizeMemory(&message)) {
    throw Error(ErrorCode::internal, "cannot load object code: " + state_->linker.getErrorString().str() + message);
  }
}

LoadedCode::~LoadedCode() = default;

void* LoadedCode::find(std::string_view name) const {
  return reinterpret_cast<void*>(state_->linker.getSymbol(llvm::StringRef(name)).getAddress());
}

std::optional<llvm::object::SectionedAddress> LoadedCode::State::place_of(const void* instruction) const {
  auto address = reinterpret_cast<std::uint64_t>(instruction);
  for (const llvm::object::SectionRef& section : object->sections()) {
    if (!section.isText()) continue;
    const std::uint64_t start = loaded->getSectionLoadAddress(section);
    if (start == 0 || address < start || address >= start + section.getSize()) continue;
    return llvm::object::SectionedAddress{section.getAddress() + (address - start), section.getIndex()};
  }
  return std::nullopt;
}

bool LoadedCode::contains(const void* instruction) const { return state_->place_of(instruction).has_value(); }

std::optional<std::string> LoadedCode::source_line(const void* instruction) const {
  const auto place = state_->place_of(instruction);
  if (!place) return std::nullopt;
  auto context = llvm::DWARFContext::create(*state_->object);
  const auto line = context->getLineInfoForAddress(*place);
  if (line && line->Line != 0) return fmt::format("{}:{}", line->FileName, line->Line);
  // The compiler's own instructions (a function's first and last ones) belong to no line: the nearest that has one.
  constexpr std::uint64_t reach = 256;
  const std::uint64_t first = place->Address > reach ? place->Address - reach : 0;
  std::optional<std::string> nearest;
  std::uint64_t distance = ~std::uint64_t{0};
  for (const auto& [address, info] : context->getLineInfoForAddressRange({first, place->SectionIndex}, 2 * reach)) {
    const std::uint64_t away = address > place->Address ? address - place->Address : place->Address - address;
    if (info.Line == 0 || away >= distance) continue;
    nearest = fmt::format("{}:{}", info.FileName, info.Line);
    distance = away;
  }
  return nearest;
}

}  // namespace metalloid::engines::cpu
