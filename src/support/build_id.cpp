#include "support/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace metalloid::support {
namespace {

constexpr std::uintptr_t align_to(std::uintptr_t value, std::uintptr_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string id_in_notes(const char* notes, std::size_t size, std::size_t alignment) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof(header));
    const char* name = notes + at + sizeof(header);
    const char* description = name + align_to(header.n_namesz, alignment);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string text;
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(description[i]));
      }
      return text;
    }
    at = description - notes + align_to(header.n_descsz, alignment);
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
    search.id = id_in_notes(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz,
                            segment.p_align == 8 ? 8 : 4);
  }
  return 1;
}

}  // namespace

const std::string& build_id() {
  static const std::string id = [] {
    Search search{reinterpret_cast<std::uintptr_t>(&look_at_object), {}};
    ::dl_iterate_phdr(look_at_object, &search);
    return search.id;
  }();
  return id;
}

}  // namespace metalloid::support
