#include "ir/passes/refuse_unsupported.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>
#include <utility>

#include "ir/passes/drop_dead_code.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

// A C++ function without a body; all else that has none is the compiler's own.
bool is_undefined(const llvm::Function& function) {
  return function.isDeclaration() && !function.use_empty() && function.getName().starts_with("_Z");
}

bool has_undefined(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (is_undefined(function)) return true;
  }
  return false;
}

// Members of Metal's classes that the library declares and does not define, by a part of their names.
const char* why_undefined(llvm::StringRef name) {
  static const std::pair<const char*, const char*> families[] = {
      {"metal::raytracing::", "ray tracing is not supported by Metalloid"},
      {"metal::visible_function_table", "function tables are not supported by Metalloid"},
      {"metal::imageblock", "imageblocks are not supported by Metalloid"},
      {"metal::mesh", "mesh functions are not supported by Metalloid"},
      {"metal::interpolant", "graphics functions are not supported by Metalloid"},
      {"metal::patch_control_point", "graphics functions are not supported by Metalloid"},
      {"metal::command_buffer", "indirect command buffers are not supported by Metalloid"},
      {"metal::render_command", "indirect command buffers are not supported by Metalloid"},
      {"metal::compute_command", "indirect command buffers are not supported by Metalloid"},
      {"_pipeline_state", "indirect command buffers are not supported by Metalloid"},
      {"metal::depth_stencil_state", "indirect command buffers are not supported by Metalloid"},
      {"mpp::tensor_ops::convolution2d", "convolution2d is not supported by Metalloid"},
      {"metal::texture", "textures are not supported by Metalloid"},
      {"metal::depth", "textures are not supported by Metalloid"},
      {"metal::sparse_color", "textures are not supported by Metalloid"},
  };
  for (const auto& [part, reason] : families) {
    if (name.contains(part)) return reason;
  }
  return "which has no definition";
}

std::string place_of(const llvm::Instruction& call) {
  const llvm::DILocation* location = call.getDebugLoc();
  return location ? fmt::format("{}:{}: ", location->getFilename().str(), location->getLine()) : std::string();
}

void refuse_resources(const KernelInfo& kernel) {
  for (const ArgumentInfo& argument : kernel.arguments) {
    const bool texture = argument.kind == ArgumentKind::texture;
    if (!argument.is_active || (!texture && argument.kind != ArgumentKind::sampler)) continue;
    const char* kind = texture ? "texture" : "sampler";
    throw Error(ErrorCode::unsupported,
                fmt::format("{}:{}: kernel '{}' has a {} argument, '{}': {}s are not supported by Metalloid",
                            kernel.source_file, kernel.source_line, kernel.name, kind, argument.name, kind));
  }
}

}  // namespace

void refuse_unsupported(KernelModule& kernel) {
  refuse_resources(kernel.info);
  llvm::Module& module = *kernel.module;
  if (!has_undefined(module)) return;
  drop_dead_code(module);
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !is_undefined(*callee)) continue;
      const std::string name = llvm::demangle(callee->getName());
      throw Error(ErrorCode::unsupported, fmt::format("{}kernel '{}' calls '{}': {}", place_of(instruction),
                                                      kernel.info.name, name, why_undefined(name)));
    }
  }
}

}  // namespace metalloid::ir
