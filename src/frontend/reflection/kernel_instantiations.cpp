#include "frontend/reflection/kernel_instantiations.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "frontend/reflection/annotations.h"

namespace metalloid::frontend {
namespace {

thread_local KernelInstantiations* current_instantiations = nullptr;

// As few_instantiations, of functions that kernels need.
constexpr std::size_t few_functions = 300;

bool is_kernel(const clang::FunctionDecl& function) {
  if (find_annotation(function, "kernel")) return true;
  const clang::FunctionDecl* pattern = function.getTemplateInstantiationPattern();
  return pattern && find_annotation(*pattern, "kernel");
}

// Not those that are instantiated.
std::size_t count_kernels(const clang::DeclContext& scope) {
  std::size_t count = 0;
  for (const clang::Decl* declaration : scope.noload_decls()) {
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      count += count_kernels(*llvm::cast<clang::DeclContext>(declaration));
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      count += function->isThisDeclarationADefinition() && find_annotation(*function, "kernel") ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

std::string host_name(const clang::FunctionDecl& function) {
  if (const auto* annotation = find_annotation(function, "host_name")) {
    if (auto name = string_argument(*annotation)) return *name;
  }
  return function.getQualifiedNameAsString();
}

KernelInstantiations::KernelInstantiations(Session& session, const KernelSelection& selection)
    : session_(session), selection_(selection), outer_(current_instantiations) {
  current_instantiations = this;
}
KernelInstantiations::~KernelInstantiations() { current_instantiations = outer_; }

bool KernelInstantiations::put_off(clang::SourceLocation place, clang::FunctionDecl& function) {
  if (function.getTemplateSpecializationKind() != clang::TSK_ExplicitInstantiationDefinition) return false;
  if (!is_kernel(function)) return false;
  // Clang sees a repetition only once there is a body.
  if (seen_.insert(&function).second) {
    waiting_.push_back({place, &function});
  } else {
    session_.diagnostics().add_repeated_instantiation(function, place);
  }
  return true;
}

std::size_t KernelInstantiations::first_wanted() const {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (host_name(*waiting_[i].function) == selection_.kernel) return i;
  }
  for (const auto& [function, name] : session_.extra_host_names()) {
    if (name != selection_.kernel) continue;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i].function == function) return i;
    }
  }
  return waiting_.size();
}

bool KernelInstantiations::wants(const clang::FunctionDecl& function, const std::string& name) const {
  if (selection_.kind != KernelSelection::Kind::some) return done_;
  if (name == selection_.kernel || wanted_.count(&function) != 0) return true;
  const bool waited = std::any_of(waiting_.begin(), waiting_.end(),
                                  [&](const Instantiation& other) { return other.function == &function; });
  return !waited && selection_.following != 0;
}

}  // namespace metalloid::frontend

// Wrapped like Sema's functions in sema_wraps.cpp.
#define METALLOID_INSTANTIATE "_ZN5clang4Sema29InstantiateFunctionDefinitionENS_14SourceLocationEPNS_12FunctionDeclEbbb"
#define METALLOID_END_OF_SOURCE "_ZN5clang4Sema25ActOnEndOfTranslationUnitEv"

using clang::FunctionDecl;
using clang::Sema;
using clang::SourceLocation;

void real_instantiate(Sema* self, SourceLocation place, FunctionDecl* function, bool recursive, bool required,
                      bool at_end) __asm__("__real_" METALLOID_INSTANTIATE);
void wrap_instantiate(Sema* self, SourceLocation place, FunctionDecl* function, bool recursive, bool required,
                      bool at_end) __asm__("__wrap_" METALLOID_INSTANTIATE);
void real_end_of_source(Sema* self) __asm__("__real_" METALLOID_END_OF_SOURCE);
void wrap_end_of_source(Sema* self) __asm__("__wrap_" METALLOID_END_OF_SOURCE);

void wrap_instantiate(Sema* self, SourceLocation place, FunctionDecl* function, bool recursive, bool required,
                      bool at_end) {
  auto* instantiations = metalloid::frontend::current_instantiations;
  if (instantiations && instantiations->put_off(place, *function)) return;
  real_instantiate(self, place, function, recursive, required, at_end);
}

void wrap_end_of_source(Sema* self) {
  if (auto* instantiations = metalloid::frontend::current_instantiations) instantiations->reach_end(*self);
  real_end_of_source(self);
}

namespace metalloid::frontend {

void KernelInstantiations::instantiate(clang::Sema& sema, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Instantiation& next = waiting_[(first + i) % waiting_.size()];
    wanted_.insert(next.function);
    // What it needs is instantiated inside of it, so that errors there name the line that asked for the kernel.
    real_instantiate(&sema, next.place, next.function, /*recursive=*/true, /*required=*/false, /*at_end=*/false);
  }
}

void KernelInstantiations::instantiate_all_if_few(clang::Sema& sema) {
  const std::size_t kernels = waiting_.size() + count_kernels(*session_.context().getTranslationUnitDecl());
  const std::size_t before = session_.declarations().size();
  const auto is_much = [&] { return kernels > 1 && session_.declarations().size() - before > few_functions; };
  std::deque<clang::Sema::PendingImplicitInstantiation> pending = std::move(sema.PendingInstantiations);
  sema.PendingInstantiations.clear();
  done_ = session_.named_kernels().empty() && waiting_.size() <= few_instantiations &&
          (kernels <= 1 || pending.size() <= few_functions);
  for (std::size_t i = 0; done_ && i < waiting_.size(); ++i) {
    instantiate(sema, i, 1);
    done_ = !is_much();
  }
  for (const auto& next : pending) {
    if (!done_) break;
    sema.PendingInstantiations.push_back(next);
    sema.PerformPendingInstantiations();
    done_ = !is_much();
  }
}

void KernelInstantiations::reach_end(clang::Sema& sema) {
  switch (selection_.kind) {
    case KernelSelection::Kind::all: instantiate(sema, 0, waiting_.size()); break;
    case KernelSelection::Kind::all_if_few: instantiate_all_if_few(sema); break;
    case KernelSelection::Kind::some: {
      const std::size_t first = first_wanted();
      const std::size_t count = selection_.following + (first == waiting_.size() ? 0u : 1u);
      instantiate(sema, first, std::min(waiting_.size(), count));
      break;
    }
  }
}

}  // namespace metalloid::frontend
