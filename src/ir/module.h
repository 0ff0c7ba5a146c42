// A compiled library between the front end and the engines: LLVM bitcode and what it says of itself.
//
// The contract of the IR (see docs/architecture.md):
//  - Neutral triple "unknown-unknown-unknown", data layout of the host, C calling convention; aggregates are
//    passed `byval` and returned through `sret`, so a kernel has exactly one IR parameter per MSL argument:
//    buffers and threadgroup memory are pointers in their address space, scalar built-ins are integers,
//    vector built-ins are `ptr byval(...)`, tensors are `ptr byval` of their descriptor: the address of the elements,
//    all extents, all strides (64 bits each, at least one extent and stride).
//  - Address spaces: 1 device, 2 constant, 3 threadgroup, 0 thread memory or an address in any space (a constant that
//    Clang made for a thread's array, too). A cast to space 0 and back gives the address again, one of null gives null,
//    and a step of getelementptr is the same on either side of it. Nothing else may be counted upon: the number that
//    ptrtoint gives of an address belongs to its space (on a GPU, threadgroup memory has another one in space 0), and
//    no way leads from one named space to another. A specialised kernel has only those accesses in space 0 that do not
//    decidably go to one of the others (infer_address_spaces.h). Threadgroup variables are internal addrspace(3)
//    globals with undef initialisers.
//  - Where lanes meet again after they went different ways is explicit in a specialised kernel: natural loops hold all
//    that lanes of one turn do together, and `metalloid.turn_end` where turns end (meeting_order.h). What an engine
//    makes of a kernel must keep convergent operations where they are.
//  - Function constants are external addrspace(2) globals; constants derived from them have a dynamic
//    initialiser in @llvm.global_ctors. `i1 @metalloid.function_constant.defined(ptr addrspace(2))` asks.
//  - Operations across threads, and fences, are opaque calls named `metalloid.*` (operations.def lists them). Atomic
//    accesses are LLVM's instructions, in a synchronisation scope of operations.h once the kernel is specialised.
//  - What defines a whole operation of operations.def has its name as the attribute "metalloid.operation"
//    (passes/take_operations.h).
//  - Code is unoptimised and carries debug locations. What comes from the body of a macro is inlined from where the
//  macro
//    is expanded, in a scope of the macro's name whose linkage name is macro_scope_name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "metalloid/reflection.h"
#include "support/last_work.h"

namespace metalloid::ir {

inline constexpr std::string_view macro_scope_name = "metalloid.macro";

// What the front end makes of a source and the caches keep.
struct CompiledLibrary {
  std::string bitcode;
  LibraryInfo info;
  std::string warnings;
};

// One kernel on its way to an engine. The context must outlive the module.
struct KernelModule {
  std::unique_ptr<llvm::LLVMContext, support::DeleteUnlessEnding> context;
  std::unique_ptr<llvm::Module, support::DeleteUnlessEnding> module;
  KernelInfo info;
};

}  // namespace metalloid::ir
