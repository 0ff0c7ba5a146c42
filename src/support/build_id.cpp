#include "support/build_id.h"

// Before <link.h>, whose macros have the names of LLVM's enumerators.
#include <llvm/ADT/StringExtras.h>
#include <llvm/Object/ELFTypes.h>

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "support/made_once.h"

namespace metalloid::support {
namespace {

using Elf = llvm::object::ELFType<llvm::endianness::native, sizeof(void*) == 8>;

std::string id_in_notes(const std::byte* notes, std::size_t size, std::size_t alignment) {
  for (std::size_t at = 0; at + sizeof(Elf::Nhdr) <= size;) {
    const auto& header = *reinterpret_cast<const Elf::Nhdr*>(notes + at);
    const Elf::Note note(header);
    if (note.getType() == NT_GNU_BUILD_ID && note.getName() == ELF_NOTE_GNU) {
      return llvm::toHex(note.getDesc(alignment), /*LowerCase=*/true);
    }
    at += header.getSize(alignment);
  }
  return {};
}

struct Search {
  std::uintptr_t inside;  // an address in the object that is looked for
  std::string id;
};

int look_at_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool is_ours = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    is_ours |= segment.p_type == PT_LOAD && search.inside >= begin && search.inside < begin + segment.p_memsz;
  }
  if (!is_ours) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    search.id = id_in_notes(reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz,
                            segment.p_align == 8 ? 8 : 4);
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static constinit MadeOnce<std::string> id;
  return id.get([] {
    Search search{reinterpret_cast<std::uintptr_t>(&look_at_object), {}};
    ::dl_iterate_phdr(look_at_object, &search);
    return search.id;
  });
}

}  // namespace metalloid::support
