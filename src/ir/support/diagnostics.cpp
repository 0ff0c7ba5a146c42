#include "ir/support/diagnostics.h"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

struct Keeper : llvm::DiagnosticHandler {
  std::string errors;

  bool handleDiagnostics(const llvm::DiagnosticInfo& diagnostic) override {
    if (diagnostic.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    diagnostic.print(printer);
    stream << "\n";
    return true;
  }
};

}  // namespace

void keep_diagnostics(llvm::LLVMContext& context) { context.setDiagnosticHandler(std::make_unique<Keeper>()); }

void throw_kept_diagnostics(llvm::LLVMContext& context, const std::string& while_doing) {
  auto* keeper = static_cast<const Keeper*>(context.getDiagHandlerPtr());
  if (keeper && !keeper->errors.empty()) {
    throw Error(ErrorCode::internal, fmt::format("{}: {}", while_doing, keeper->errors));
  }
}

}  // namespace metalloid::ir
