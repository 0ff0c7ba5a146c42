#include "frontend/code/code_generation.h"

#include <set>

#include <clang/AST/GlobalDecl.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Operator.h>

#include "frontend/code/initialisers.h"
#include "frontend/code/loop_turns.h"
#include "frontend/code/macro_places.h"
#include "frontend/reflection/kernel_instantiations.h"
#include "frontend/reflection/program_arguments.h"
#include "ir/passes/initialisers.h"
#include "ir/passes/take_operations.h"
#include "ir/passes/thread_variables.h"
#include "support/address_spaces.h"

namespace metalloid::frontend {
namespace {

// Threadgroup memory starts out undefined: default constructors of its class types do not run.
class ThreadgroupVariables : public clang::RecursiveASTVisitor<ThreadgroupVariables> {
 public:
  explicit ThreadgroupVariables(clang::DiagnosticsEngine& diagnostics) : diagnostics_(diagnostics) {}

  bool VisitVarDecl(clang::VarDecl* variable) {
    if (variable->getType().getAddressSpace() != clang::LangAS::opencl_local || !variable->hasInit()) return true;
    const auto* construct = llvm::dyn_cast<clang::CXXConstructExpr>(variable->getInit()->IgnoreImplicit());
    if (construct && variable->getInitStyle() == clang::VarDecl::CallInit && construct->getNumArgs() == 0) {
      variable->setInit(nullptr);
    } else {
      diagnostics_.Report(variable->getLocation(),
                          diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                       "variable in threadgroup address space cannot have an "
                                                       "initializer"));
    }
    return true;
  }

 private:
  clang::DiagnosticsEngine& diagnostics_;
};

// Globals that a function uses, through the functions it calls and the constants it reads.
class UsedGlobals {
 public:
  explicit UsedGlobals(const llvm::Module& module) {
    for (const ir::Initialiser& initialiser : ir::find_initialisers(module)) {
      initialisers_[initialiser.constant] = initialiser.function;
    }
  }

  // Of a function or a constant, itself included.
  std::set<const llvm::GlobalVariable*> of(const llvm::GlobalObject& root) {
    std::set<const llvm::GlobalObject*> reached = {&root};
    std::vector<const llvm::GlobalObject*> open = {&root};
    while (!open.empty()) {
      const llvm::GlobalObject* object = open.back();
      open.pop_back();
      for (const llvm::GlobalObject* next : named_in(*object)) {
        if (reached.insert(next).second) open.push_back(next);
      }
    }
    std::set<const llvm::GlobalVariable*> used;
    for (const llvm::GlobalObject* object : reached) {
      if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object)) used.insert(variable);
    }
    return used;
  }

 private:
  using Objects = std::set<const llvm::GlobalObject*>;

  // What the code of a function, or the value of a constant, names.
  const Objects& named_in(const llvm::GlobalObject& object) {
    const auto [entry, is_new] = named_.try_emplace(&object);
    Objects& named = entry->second;
    if (!is_new) return named;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&object)) {
      for (const llvm::BasicBlock& block : *function) {
        for (const llvm::Instruction& instruction : block) {
          for (const llvm::Use& operand : instruction.operands()) collect(*operand.get(), named);
        }
      }
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&object);
               variable && !ir::is_thread_variable(*variable)) {
      const auto computed = initialisers_.find(variable);
      if (computed != initialisers_.end()) named.insert(computed->second);
      if (variable->hasInitializer()) collect(*variable->getInitializer(), named);
    }
    return named;
  }

  static void collect(const llvm::Value& value, Objects& named) {
    if (const auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) {
      named.insert(object);
    } else if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
      for (const llvm::Use& operand : constant->operands()) collect(*operand.get(), named);
    }
  }

  std::map<const llvm::GlobalVariable*, const llvm::Function*> initialisers_;  // of constants that are computed
  std::map<const llvm::GlobalObject*, Objects> named_;
};

// Kernels take the arguments at program scope that they use.
void add_program_arguments(llvm::Module& module, Reflection& reflection) {
  UsedGlobals used(module);
  std::map<ReflectedKernel*, std::vector<ProgramArgument>> arguments;  // before any function changes
  for (const ReflectedProgramArgument& argument : reflection.program_arguments) {
    llvm::GlobalVariable* variable = module.getNamedGlobal(argument.symbol);
    if (!variable) continue;
    ir::mark_thread_variable(*variable);
  }
  for (ReflectedKernel& kernel : reflection.kernels) {
    const llvm::Function* function = module.getFunction(kernel.info.symbol);
    if (!function || reflection.program_arguments.empty()) continue;
    const std::set<const llvm::GlobalVariable*> its_own = used.of(*function);
    for (const ReflectedProgramArgument& argument : reflection.program_arguments) {
      llvm::GlobalVariable* variable = module.getNamedGlobal(argument.symbol);
      if (variable && its_own.count(variable)) arguments[&kernel].push_back({variable, argument.info});
    }
  }
  for (auto& [kernel, its_own] : arguments) {
    append_program_arguments(*module.getFunction(kernel->info.symbol), kernel->info, its_own);
  }
}

void describe_used_globals(const llvm::Module& module, Reflection& reflection) {
  UsedGlobals used(module);
  for (ReflectedKernel& kernel : reflection.kernels) {
    const llvm::Function* function = module.getFunction(kernel.info.symbol);
    if (!function) continue;
    const std::set<const llvm::GlobalVariable*> its_own = used.of(*function);
    for (const llvm::GlobalVariable* variable : its_own) {
      if (variable->getAddressSpace() == threadgroup_space) {
        const std::uint64_t alignment = variable->getAlign().valueOrOne().value();
        auto& bytes = kernel.info.static_threadgroup_memory;
        bytes = (bytes + alignment - 1) / alignment * alignment +
                module.getDataLayout().getTypeAllocSize(variable->getValueType());
      }
    }
    std::set<const llvm::GlobalVariable*> decides;  // whether arguments exist
    for (const ArgumentInfo& argument : kernel.info.arguments) {
      const llvm::GlobalVariable* gate = argument.gate.empty() ? nullptr : module.getNamedGlobal(argument.gate);
      if (gate) decides.merge(used.of(*gate));
    }
    for (const auto& [constant, declaration] : reflection.function_constants) {
      const llvm::GlobalVariable* variable = module.getNamedGlobal(constant.symbol);
      const bool is_used = variable && (its_own.count(variable) || decides.count(variable));
      if (is_used) kernel.info.function_constants.push_back(constant.name);
    }
  }
}

// What Clang keeps of annotations of functions: {function, text, file, line, arguments}. Of those only the library's
// operations (METALLOID_WHOLE_OPERATION) are of interest behind the front end.
void mark_operations(llvm::Module& module) {
  llvm::GlobalVariable* annotations = module.getNamedGlobal("llvm.global.annotations");
  if (!annotations) return;
  for (const llvm::Use& entry : llvm::cast<llvm::ConstantArray>(annotations->getInitializer())->operands()) {
    const auto& fields = *llvm::cast<llvm::ConstantStruct>(entry);
    auto* function = llvm::dyn_cast<llvm::Function>(fields.getOperand(0)->stripPointerCasts());
    llvm::StringRef text;
    if (!function || !llvm::getConstantStringInfo(fields.getOperand(1), text)) continue;
    if (!text.consume_front("metalloid.operation.")) continue;
    const auto* arguments = llvm::dyn_cast<llvm::GlobalVariable>(fields.getOperand(4)->stripPointerCasts());
    if (!arguments) {
      ir::mark_operation(*function, text);
      continue;
    }
    const llvm::Constant* simdgroups = arguments->getInitializer()->getAggregateElement(0u);
    ir::mark_operation(*function, text, static_cast<int>(llvm::cast<llvm::ConstantInt>(simdgroups)->getZExtValue()));
  }
  annotations->eraseFromParent();
}

// The gate may be read by nothing else, so its definition is asked for.
std::string symbol_of_gate(clang::CodeGenerator& generator, const clang::VarDecl& gate) {
  generator.GetAddrOfGlobal(clang::GlobalDecl(&gate), /*isForDefinition=*/false);
  return generator.GetMangledName(clang::GlobalDecl(&gate)).str();
}

// Hosts run kernels alone, so code of all other functions waits for a use, as Clang has it of inline functions: most of
// what a source includes no kernel of it reaches.
void wait_for_use(const clang::DeclContext& scope, const std::set<const clang::Decl*>& kernels) {
  for (clang::Decl* declaration : scope.noload_decls()) {
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      wait_for_use(*llvm::cast<clang::DeclContext>(declaration), kernels);
    } else if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
               function && function->isThisDeclarationADefinition() && kernels.count(function) == 0) {
      function->setImplicitlyInline();
    }
  }
}

}  // namespace

std::unique_ptr<llvm::Module> generate_code(Session& session, Reflection& reflection,
                                            const KernelInstantiations& instantiations, llvm::LLVMContext& context) {
  auto& compiler = session.compiler();
  auto& diagnostics = compiler.getDiagnostics();
  ThreadgroupVariables threadgroup_variables(diagnostics);
  for (ReflectedKernel& kernel : reflection.kernels) {
    if (clang::Stmt* body = kernel.function->getBody()) threadgroup_variables.TraverseStmt(body);
  }
  if (session.diagnostics().error_count() != 0) return nullptr;
  // Clang's own count includes errors that MSL does not share (Diagnostics drops them).
  diagnostics.Reset(/*soft=*/true);

  InitialiserRecorder initialisers;
  MacroPlaces macro_places(compiler.getSourceManager(), compiler.getLangOpts());
  std::unique_ptr<clang::CodeGenerator> generator(clang::CreateLLVMCodeGen(
      diagnostics, compiler.getCodeGenOpts().MainFileName, &compiler.getVirtualFileSystem(),
      compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(), compiler.getCodeGenOpts(), context));
  generator->Initialize(session.context());
  std::set<const clang::Decl*> left_out;
  for (const ReflectedKernel& kernel : reflection.kernels) left_out.insert(kernel.function);
  wait_for_use(*session.context().getTranslationUnitDecl(), left_out);
  for (const ReflectedKernel& kernel : reflection.kernels) {
    if (instantiations.wants(*kernel.function, kernel.info.name)) left_out.erase(kernel.function);
  }
  // Kernels are called by hosts only, so the code generator must not wait for a use.
  for (ReflectedKernel& kernel : reflection.kernels) {
    if (left_out.count(kernel.function) != 0) continue;
    auto* function = const_cast<clang::FunctionDecl*>(kernel.function);
    if (!function->hasAttr<clang::UsedAttr>() &&
        (function->isInlined() || function->getFormalLinkage() == clang::Linkage::Internal)) {
      function->addAttr(clang::UsedAttr::CreateImplicit(session.context()));
    }
  }
  // Read already; Clang would write them into the IR as calls.
  for (ReflectedKernel& kernel : reflection.kernels) {
    auto* function = const_cast<clang::FunctionDecl*>(kernel.function);
    function->dropAttr<clang::AnnotateAttr>();
    for (clang::ParmVarDecl* parameter : function->parameters()) parameter->dropAttr<clang::AnnotateAttr>();
  }
  // Bodies of library functions are read from the precompiled library only now, and with them the declarations of
  // what they call: those must reach the generator, or it would leave them undefined.
  clang::ExternalASTSource* library = session.context().getExternalSource();
  if (library) library->StartTranslationUnit(generator.get());
  mark_turn_ends(session);
  session.declarations().replay(*generator, left_out);
  for (auto& [info, variable] : reflection.function_constants) {
    info.symbol = generator->GetMangledName(clang::GlobalDecl(variable)).str();
  }
  for (ReflectedProgramArgument& argument : reflection.program_arguments) {
    argument.symbol = generator->GetMangledName(clang::GlobalDecl(argument.variable)).str();
    const_cast<clang::VarDecl*>(argument.variable)->dropAttr<clang::AnnotateAttr>();
    if (argument.gate) argument.info.gate = symbol_of_gate(*generator, *argument.gate);
  }
  for (std::size_t k = 0; k < reflection.kernels.size(); ++k) {
    auto& kernel = reflection.kernels[k];
    if (left_out.count(kernel.function) != 0) continue;
    kernel.info.symbol = generator->GetMangledName(clang::GlobalDecl(kernel.function)).str();
    for (std::size_t a = 0; a < kernel.info.arguments.size(); ++a) {
      const auto gate = reflection.gates.find({k, a});
      if (gate == reflection.gates.end()) continue;
      kernel.info.arguments[a].gate = symbol_of_gate(*generator, *gate->second);
    }
  }
  generator->HandleTranslationUnit(session.context());
  if (library) library->StartTranslationUnit(nullptr);
  if (session.diagnostics().error_count() != 0) return nullptr;
  std::unique_ptr<llvm::Module> module(generator->ReleaseModule());
  if (!module) return nullptr;
  macro_places.write(*module);
  module->setTargetTriple(llvm::Triple("unknown-unknown-unknown"));
  mark_operations(*module);
  write_turn_ends(*module);
  initialisers.write_list(*module);
  add_program_arguments(*module, reflection);
  describe_used_globals(*module, reflection);
  return module;
}

}  // namespace metalloid::frontend
