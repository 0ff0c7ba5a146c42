#include "ir/assemble.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

#include "ir/select_kernel.h"
#include "ir/specialise.h"
#include "metalloid/error.h"

namespace metalloid::ir {

std::string assemble(std::string_view llvm_assembly) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(llvm::StringRef(llvm_assembly), diagnostic, context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    diagnostic.print("assembly", stream, false);
    throw Error(ErrorCode::compile_error, message);
  }
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  return bitcode;
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string print_transformed(std::string_view llvm_assembly, const KernelInfo& info,
                              support::function_ref<void(KernelModule&, llvm::Function& kernel)> passes) {
  KernelModule kernel = select_kernel(assemble(llvm_assembly), info);
  passes(kernel, *kernel.module->getFunction(info.symbol));
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*kernel.module, &stream)) throw Error(ErrorCode::internal, "invalid code: " + problems);
  return print(*kernel.module);
}

std::string print_specialised(std::string_view llvm_assembly, const std::string& kernel, const InlinePolicy& policy) {
  KernelInfo info;
  info.name = info.symbol = kernel;
  return print(*specialise(assemble(llvm_assembly), {}, info, {}, policy).module);
}

std::string disassemble(std::string_view bitcode) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bitcode), "library"), context);
  if (!module) throw Error(ErrorCode::internal, "cannot read bitcode: " + llvm::toString(module.takeError()));
  return print(**module);
}

}  // namespace metalloid::ir
