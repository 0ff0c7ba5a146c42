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

#include "ir/operations.h"
#include "ir/passes/normalise_attributes.h"
#include "ir/passes/select_kernel.h"
#include "ir/specialise.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

std::unique_ptr<llvm::Module> parse(std::string_view text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(llvm::StringRef(text), diagnostic, context);
  if (module) return module;
  std::string message;
  llvm::raw_string_ostream stream(message);
  diagnostic.print("assembly", stream, false);
  throw Error(ErrorCode::compile_error, message);
}

}  // namespace

std::string assemble(std::string_view llvm_assembly) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::Module> module = parse(llvm_assembly, context);
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

std::string print_specialised(std::string_view llvm_assembly, const std::string& kernel,
                              const SpecialiseOptions& options) {
  KernelInfo info;
  info.name = info.symbol = kernel;
  return print_specialised(assemble(llvm_assembly), {}, info, {}, options);
}

std::string print_specialised(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                              const FunctionConstants& constants, const SpecialiseOptions& options) {
  return print(*specialise(bitcode, library, kernel, constants, options).module);
}

void rewrite(KernelModule& kernel, support::function_ref<std::string(const std::string&)> change) {
  kernel.module = parse(change(print(*kernel.module)), *kernel.context);
}

std::string print_operations() {
  llvm::LLVMContext context;
  llvm::Module module("operations", context);
  for (const Operation& operation : all_operations()) declare_operation(module, operation.name);
  return print(module);
}

std::string disassemble(std::string_view bitcode) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(bitcode), "library"), context);
  if (!module) throw Error(ErrorCode::internal, "cannot read bitcode: " + llvm::toString(module.takeError()));
  return print(**module);
}

}  // namespace metalloid::ir
