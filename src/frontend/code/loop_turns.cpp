#include "frontend/code/loop_turns.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <set>
#include <string_view>

#include "frontend/files/library_places.h"
#include "ir/operations.h"

namespace metalloid::frontend {
namespace {

using namespace clang;

// What a statement may do. `breaks`: out of the loop or switch around it.
struct Effects {
  bool breaks = false, returns = false, meets = false;
  Effects& operator|=(const Effects& other) {
    breaks |= other.breaks;
    returns |= other.returns;
    meets |= other.meets;
    return *this;
  }
};

class Marker {
 public:
  explicit Marker(ASTContext& context) : context_(context) {}

  // True if threads may meet in the function.
  bool mark(const FunctionDecl& function) {
    if (function.getBuiltinID() != 0) return false;
    if (const auto* label = function.getAttr<AsmLabelAttr>()) {
      const llvm::StringRef name = label->getLabel();
      return ir::is_lane_meeting(std::string_view(name.data(), name.size()));
    }
    const FunctionDecl* definition = nullptr;
    if (!function.hasBody(definition) || definition->isDependentContext()) return false;
    const auto [entry, is_new] = meeting_.try_emplace(definition, true);  // what is not known yet may meet
    if (!is_new) return entry->second;
    FunctionDecl* const outer = std::exchange(function_, const_cast<FunctionDecl*>(definition));
    bool meets = walk(definition->getBody()).meets;
    if (const auto* constructor = llvm::dyn_cast<CXXConstructorDecl>(definition)) {
      for (const CXXCtorInitializer* member : constructor->inits()) meets |= walk(member->getInit()).meets;
    }
    function_ = outer;
    return meeting_[definition] = meets;
  }

 private:
  Effects walk(Stmt* statement) {
    if (!statement) return {};
    if (auto* loop = llvm::dyn_cast<ForStmt>(statement)) return walk_loop(*loop);
    if (auto* loop = llvm::dyn_cast<WhileStmt>(statement)) return walk_loop(*loop);
    if (auto* loop = llvm::dyn_cast<DoStmt>(statement)) return walk_loop(*loop);
    if (auto* loop = llvm::dyn_cast<CXXForRangeStmt>(statement)) return walk_loop(*loop);
    if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(statement)) {
      Effects result;
      for (Expr* capture : lambda->capture_inits()) result |= walk(capture);
      return result;  // its body is a function, which is seen when it is called
    }
    Effects result;
    if (llvm::isa<BreakStmt>(statement)) result.breaks = true;
    if (llvm::isa<ReturnStmt>(statement)) result.returns = true;
    result.meets = calls_meeting(*statement);
    for (Stmt* child : statement->children()) result |= walk(child);
    if (llvm::isa<SwitchStmt>(statement)) result.breaks = false;
    return result;
  }

  template <typename Loop>
  Effects walk_loop(Loop& loop) {
    Stmt* const body = loop.getBody();
    Effects result;
    for (Stmt* child : loop.children()) {
      if (child != body) result |= walk(child);
    }
    const Effects inside = walk(body);
    if ((inside.breaks || inside.returns) && inside.meets && marked_.insert(&loop).second) {
      loop.setBody(with_turn_end(*body));
    }
    result |= inside;
    result.breaks = false;
    return result;
  }

  bool calls_meeting(const Stmt& statement) {
    if (const auto* call = llvm::dyn_cast<CallExpr>(&statement)) {
      const FunctionDecl* callee = call->getDirectCallee();
      return !callee || mark(*callee);
    }
    if (const auto* made = llvm::dyn_cast<CXXConstructExpr>(&statement)) {
      const CXXDestructorDecl* destructor = made->getConstructor()->getParent()->getDestructor();
      const bool ends = destructor && !destructor->isTrivial() && mark(*destructor);
      return mark(*made->getConstructor()) || ends;
    }
    if (const auto* argument = llvm::dyn_cast<CXXDefaultArgExpr>(&statement)) {
      return walk(const_cast<Expr*>(argument->getExpr())).meets;
    }
    return false;
  }

  CompoundStmt* with_turn_end(Stmt& body) {
    const QualType type = context_.IntTy;
    const SourceLocation begin = body.getBeginLoc(), end = body.getEndLoc();
    VarDecl* turn = VarDecl::Create(context_, function_, begin, begin, &context_.Idents.get("turn"), type,
                                    context_.getTrivialTypeSourceInfo(type, begin), SC_None);
    turn->addAttr(CleanupAttr::CreateImplicit(context_, turn_end()));
    auto* declaration = new (context_) DeclStmt(DeclGroupRef(turn), begin, begin);
    return CompoundStmt::Create(context_, {declaration, &body}, FPOptionsOverride(), begin, end);
  }

  FunctionDecl* turn_end() {
    if (turn_end_) return turn_end_;
    const QualType pointer = context_.getPointerType(context_.IntTy);
    const QualType type = context_.getFunctionType(context_.VoidTy, {pointer}, {});
    turn_end_ = FunctionDecl::Create(context_, context_.getTranslationUnitDecl(), {}, {},
                                     &context_.Idents.get("metalloid_turn_end"), type,
                                     context_.getTrivialTypeSourceInfo(type), SC_Extern);
    turn_end_->setParams(ParmVarDecl::Create(context_, turn_end_, {}, {}, nullptr, pointer,
                                             context_.getTrivialTypeSourceInfo(pointer), SC_None, nullptr));
    turn_end_->addAttr(
        AsmLabelAttr::CreateImplicit(context_, llvm::StringRef(ir::turn_end_name.data(), ir::turn_end_name.size())));
    return turn_end_;
  }

  ASTContext& context_;
  FunctionDecl* function_ = nullptr;  // the one that is walked through
  FunctionDecl* turn_end_ = nullptr;
  llvm::DenseMap<const FunctionDecl*, bool> meeting_;
  std::set<const Stmt*> marked_;  // instantiations of a template may have loops in common
};

class Functions : public RecursiveASTVisitor<Functions> {
 public:
  explicit Functions(ASTContext& context) : marker_(context) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }  // functions of lambdas
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (function->isThisDeclarationADefinition()) marker_.mark(*function);
    return true;
  }

 private:
  Marker marker_;
};

}  // namespace

void mark_turn_ends(Session& session) {
  Functions functions(session.context());
  const SourceManager& sources = session.context().getSourceManager();
  for (Decl* declaration : session.context().getTranslationUnitDecl()->noload_decls()) {
    if (!is_in_library(sources, declaration->getLocation())) functions.TraverseDecl(declaration);
  }
}

void write_turn_ends(llvm::Module& module) {
  const llvm::StringRef name(ir::turn_end_name.data(), ir::turn_end_name.size());
  llvm::Function* marked = module.getFunction(name);
  if (!marked) return;
  marked->setName("");
  llvm::FunctionCallee operation =
      module.getOrInsertFunction(name, ir::type_of(ir::turn_end_name, module.getContext()));
  llvm::cast<llvm::Function>(operation.getCallee())->addFnAttr(llvm::Attribute::Convergent);
  for (llvm::User* user : llvm::make_early_inc_range(marked->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    builder.CreateCall(operation);
    call->eraseFromParent();
  }
  marked->eraseFromParent();
}

}  // namespace metalloid::frontend
