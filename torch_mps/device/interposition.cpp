// torch's wheels for Linux have all of the device "mps" but some decisions that were made when they were compiled:
// stubs refuse it (DispatchStub.cpp), the accelerator is CUDA (DeviceAccelerator.cpp), its hooks may have been asked
// for before. Shared libraries call each other's exported functions, and mostly their own, through the global offset
// table (GOT): one address per function and library, which the dynamic linker fills in. Here it is filled in anew.
//
//   libtorch_cpu.so:  call get_call_ptr@plt -> GOT[get_call_ptr] -> DispatchStubImpl::get_call_ptr      before
//                                                                -> our get_call_ptr -> the original    after
//
// That works in whatever order things are imported, unlike symbols that a library brings along that is loaded first.
#include "interposition.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/native/DispatchStub.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "hooks.h"

namespace metalloid::torch_device {

namespace {

using at::native::DispatchResult;
using at::native::DispatchStubImpl;
using at::native::ErrorType;

// The CPU's functions for its instruction sets follow the device: one to three of them, by how torch was compiled.
// Those that are not there are registers that nobody reads.
using GetCallPointer = void* (*)(DispatchStubImpl*, c10::DeviceType, void*, void*, void*);
using TryGetCallPointer = DispatchResult (*)(DispatchStubImpl*, c10::DeviceType, void*, void*, void*);
using GetAccelerator = std::optional<c10::DeviceType> (*)(bool);
using IsAccelerator = bool (*)(c10::DeviceType);
using GetHooks = const at::MPSHooksInterface& (*)();

GetCallPointer get_call_pointer_of_torch;
TryGetCallPointer try_get_call_pointer_of_torch;
IsAccelerator is_accelerator_of_torch;

void* get_call_pointer(DispatchStubImpl* stub, c10::DeviceType device, void* a, void* b, void* c) {
  if (device != c10::DeviceType::MPS) return get_call_pointer_of_torch(stub, device, a, b, c);
  TORCH_CHECK_NOT_IMPLEMENTED(stub->mps_dispatch_ptr != nullptr, "DispatchStub: missing kernel for mps");
  return stub->mps_dispatch_ptr;
}

DispatchResult try_get_call_pointer(DispatchStubImpl* stub, c10::DeviceType device, void* a, void* b, void* c) {
  if (device != c10::DeviceType::MPS) return try_get_call_pointer_of_torch(stub, device, a, b, c);
  if (stub->mps_dispatch_ptr == nullptr) return ErrorType::MissingDeviceKernel;
  return stub->mps_dispatch_ptr;
}

std::optional<c10::DeviceType> get_accelerator(bool) { return c10::DeviceType::MPS; }

bool is_accelerator(c10::DeviceType device) {
  return device == c10::DeviceType::MPS || is_accelerator_of_torch(device);
}

struct Replacement {
  const char* symbol;
  void* ours;
  void** original;  // may be null
  bool is_needed;
  int count = 0;  // of tables
};

Replacement replacements[] = {
    {"_ZN2at6native16DispatchStubImpl12get_call_ptrEN3c1010DeviceTypeEPvS4_S4_",
     reinterpret_cast<void*>(get_call_pointer), reinterpret_cast<void**>(&get_call_pointer_of_torch), true},
    {"_ZN2at6native16DispatchStubImpl16try_get_call_ptrEN3c1010DeviceTypeEPvS4_S4_",
     reinterpret_cast<void*>(try_get_call_pointer), reinterpret_cast<void**>(&try_get_call_pointer_of_torch), false},
    {"_ZN2at11accelerator14getAcceleratorEb", reinterpret_cast<void*>(get_accelerator), nullptr, true},
    {"_ZN2at11accelerator13isAcceleratorEN3c1010DeviceTypeE", reinterpret_cast<void*>(is_accelerator),
     reinterpret_cast<void**>(&is_accelerator_of_torch), true},
    {"_ZN2at6detail11getMPSHooksEv", reinterpret_cast<void*>(hooks), nullptr, true},
};

void write_entry(void** entry, void* value) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1));
  // Read-only after relocation where the linker was told so (-z relro). It stays writable: who made it read-only is not
  // known here, and lazily bound entries beside it need it.
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
    throw std::runtime_error("mprotect of a global offset table failed");
  *entry = value;
}

template <typename Word>
Word* address(const dl_phdr_info& library, ElfW(Addr) value) {
  // glibc has relocated these pointers of the dynamic section, musl has not.
  return reinterpret_cast<Word*>(value < library.dlpi_addr ? library.dlpi_addr + value : value);
}

void patch(const dl_phdr_info& library) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    }
  }
  if (dynamic == nullptr) return;
  const char* strings = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  struct Table {
    const ElfW(Rela) * entries = nullptr;
    std::size_t bytes = 0;
  } tables[2];
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto value = dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_STRTAB) strings = address<const char>(library, value);
    if (dynamic->d_tag == DT_SYMTAB) symbols = address<const ElfW(Sym)>(library, value);
    if (dynamic->d_tag == DT_JMPREL) tables[0].entries = address<const ElfW(Rela)>(library, value);
    if (dynamic->d_tag == DT_PLTRELSZ) tables[0].bytes = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1].entries = address<const ElfW(Rela)>(library, value);
    if (dynamic->d_tag == DT_RELASZ) tables[1].bytes = dynamic->d_un.d_val;
  }
  if (strings == nullptr || symbols == nullptr) return;
  for (const auto& table : tables) {
    if (table.entries == nullptr) continue;
    for (std::size_t i = 0; i < table.bytes / sizeof(ElfW(Rela)); ++i) {
      const auto& entry = table.entries[i];
      const auto symbol = ELF64_R_SYM(entry.r_info);
      if (symbol == 0) continue;
      const char* name = strings + symbols[symbol].st_name;
      if (name[0] != '_' || name[1] != 'Z' || name[2] != 'N' || name[3] != '2') continue;  // at::…
      for (auto& replacement : replacements) {
        if (std::strcmp(name, replacement.symbol) != 0) continue;
        write_entry(reinterpret_cast<void**>(library.dlpi_addr + entry.r_offset), replacement.ours);
        ++replacement.count;
      }
    }
  }
}

// torch's own, and those that Metalloid loads from memory: operators may call stubs of their own.
int patch_torch(dl_phdr_info* library, std::size_t, void*) {
  const std::string path = library->dlpi_name;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libtorch") || name.starts_with("libc10") || path.starts_with("/proc/")) patch(*library);
  return 0;
}

}  // namespace

void interpose() {
  for (auto& replacement : replacements) {
    if (replacement.original == nullptr) continue;
    *replacement.original = dlsym(RTLD_DEFAULT, replacement.symbol);
    if (*replacement.original == nullptr) {  // loaded without RTLD_GLOBAL, as Python does
      if (void* library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY)) {
        *replacement.original = dlsym(library, replacement.symbol);
      }
    }
    if (*replacement.original == nullptr && replacement.is_needed) {
      throw std::runtime_error(std::string("this version of torch has no ") + replacement.symbol);
    }
  }
  dl_iterate_phdr(patch_torch, nullptr);
  for (const auto& replacement : replacements) {
    if (replacement.is_needed && replacement.count == 0) {
      throw std::runtime_error(std::string("no library of this version of torch calls ") + replacement.symbol +
                               " where another function could be put in its place");
    }
  }
}

}  // namespace metalloid::torch_device
