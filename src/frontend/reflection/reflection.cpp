#include "frontend/reflection/reflection.h"

#include <algorithm>
#include <limits>
#include <set>

#include <clang/AST/DeclTemplate.h>
#include <clang/Sema/Sema.h>
#include <llvm/Support/JSON.h>

#include "frontend/files/library_places.h"
#include "frontend/reflection/annotations.h"
#include "frontend/reflection/kernel_arguments.h"
#include "frontend/reflection/kernel_instantiations.h"
#include "frontend/reflection/types.h"

namespace metalloid::frontend {
namespace {

class Reflector {
 public:
  explicit Reflector(Session& session)
      : session_(session),
        context_(session.context()),
        sources_(context_.getSourceManager()),
        diagnostics_(context_.getDiagnostics()) {}

  Reflection run() {
    visit(*context_.getTranslationUnitDecl());
    for (const auto& [function, name] : session_.extra_host_names()) add_kernel(*function, name);
    for (const tokens::NamedKernel& kernel : session_.named_kernels()) add_named(kernel);
    sort_by_source_order();
    check_names();
    return std::move(reflection_);
  }

 private:
  // A pointer does not make Clang instantiate the class template it points to, but its size and elements are asked for.
  void instantiate_argument_types(const clang::FunctionDecl& function) {
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      const clang::QualType pointee = parameter->getType()->getPointeeType();
      if (!pointee.isNull()) (void)session_.compiler().getSema().isCompleteType(parameter->getLocation(), pointee);
    }
  }

  template <unsigned N>
  clang::DiagnosticBuilder error(clang::SourceLocation location, const char (&text)[N]) {
    return diagnostics_.Report(location, diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, text));
  }

  // Only what was parsed: nothing of the precompiled library is loaded for this walk.
  void visit(const clang::DeclContext& scope) {
    for (const clang::Decl* declaration : scope.noload_decls()) {
      // Our own headers have no kernels but templates, which the source may instantiate (<c10/metal/indexing.h>).
      if (is_in_library(sources_, declaration->getLocation()) &&
          !llvm::isa<clang::NamespaceDecl, clang::FunctionTemplateDecl>(declaration)) {
        continue;
      }
      if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) visit(*space);
      if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration)) visit(*linkage);
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) visit_function(*function);
      if (const auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) visit_template(*pattern);
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) visit_variable(*variable);
      if (const auto* pattern = llvm::dyn_cast<clang::VarTemplateDecl>(declaration)) {
        visit_variable(*pattern->getTemplatedDecl());
      }
    }
  }

  void visit_template(const clang::FunctionTemplateDecl& pattern) {
    if (pattern.getCanonicalDecl() != &pattern) return;
    for (const clang::FunctionDecl* specialisation : pattern.specializations()) {
      const auto kind = specialisation->getTemplateSpecializationKind();
      if (kind == clang::TSK_ExplicitInstantiationDefinition || kind == clang::TSK_ExplicitSpecialization) {
        visit_function(*specialisation);
      }
    }
  }

  void visit_function(const clang::FunctionDecl& function) {
    if (!function.isThisDeclarationADefinition() && !function.getTemplateInstantiationPattern()) return;
    if (function.isInvalidDecl()) return;
    for (const char* stage : {"vertex", "fragment", "intersection", "mesh", "object", "visible", "stitchable"}) {
      if (find_annotation(function, stage)) {
        reflection_.unsupported.push_back(
            {host_name(function), std::string(llvm::StringRef("aeiou").contains(stage[0]) ? "an " : "a ") + stage +
                                      " function; Metalloid runs compute kernels only"});
        return;
      }
    }
    if (find_annotation(function, "kernel")) add_kernel(function, host_name(function));
  }

  // The whole argument of an attribute that counts threads; 0 after an error.
  std::uint32_t thread_count(const clang::FunctionDecl& function, const clang::AnnotateAttr& annotation,
                             const char* attribute, unsigned index) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto count = integer_argument(context_, annotation, index);
    if (count && *count >= 1 && *count <= most) return static_cast<std::uint32_t>(*count);
    if (count) {
      error(function.getLocation(), "'%0' attribute parameter is out of bounds: must be at least 1 and less than 2^31")
          << attribute;
    } else {
      error(function.getLocation(), "'%0' attribute requires an integer constant") << attribute;
    }
    return 0;
  }

  void add_kernel(const clang::FunctionDecl& function, const std::string& name) {
    // Hosts ask for kernels by their names.
    if (name.empty()) error(function.getLocation(), "'host_name' must not be empty");
    if (!llvm::json::isUTF8(name)) error(function.getLocation(), "'host_name' must be text in UTF-8");
    if (!function.getReturnType()->isVoidType()) {
      error(function.getLocation(), "kernel must have void return type");
      return;
    }
    const clang::SourceLocation point = function.getPointOfInstantiation();
    ReflectedKernel kernel{{}, &function, point.isValid() ? point : function.getLocation()};
    kernel.info.name = name;
    const clang::PresumedLoc location = sources_.getPresumedLoc(sources_.getExpansionLoc(function.getLocation()));
    if (location.isValid()) {
      kernel.info.source_file = location.getFilename();
      kernel.info.source_line = location.getLine();
    }
    constexpr const char* limit_name = "max_total_threads_per_threadgroup";
    constexpr const char* required_name = "required_threads_per_threadgroup";
    if (const auto* limit = find_annotation(function, limit_name)) {
      if (limit->args_size() > 1) error(function.getLocation(), "'%0' attribute takes one argument") << limit_name;
      kernel.info.max_total_threads_per_threadgroup = thread_count(function, *limit, limit_name, 0);
    }
    if (const auto* required = find_annotation(function, required_name)) {
      for (unsigned axis = 0; axis < 3; ++axis) {
        auto& extent = kernel.info.required_threads_per_threadgroup[axis];
        extent = axis == 0 || axis < required->args_size() ? thread_count(function, *required, required_name, axis) : 1;
      }
    }
    const std::size_t kernel_index = reflection_.kernels.size();
    instantiate_argument_types(function);
    if (const std::string reason = unsupported_argument(context_, function); !reason.empty()) {
      reflection_.unsupported.push_back({name, reason});
      return;
    }
    for (KernelArgument& argument : reflect_arguments(context_, function)) {
      if (argument.gate) reflection_.gates[{kernel_index, kernel.info.arguments.size()}] = argument.gate;
      kernel.info.arguments.push_back(std::move(argument.info));
    }
    reflection_.kernels.push_back(std::move(kernel));
  }

  void add_named(const tokens::NamedKernel& named) {
    ReflectedKernel kernel{{}, nullptr, named.place};
    kernel.info.name = named.host_name;
    reflection_.kernels.push_back(std::move(kernel));
  }

  void visit_variable(const clang::VarDecl& variable) {
    if (llvm::isa<clang::VarTemplateSpecializationDecl>(variable)) return;  // its template is visited
    if (const auto* annotation = find_annotation(variable, "function_constant")) {
      add_function_constant(variable, *annotation);
      return;
    }
    if (is_program_argument(variable)) {
      KernelArgument argument = reflect_program_argument(context_, variable);
      reflection_.program_arguments.push_back({std::move(argument.info), &variable, argument.gate, {}});
      return;
    }
    const clang::QualType type = variable.getType();
    if (type.getAddressSpace() == clang::LangAS::Default && !type->isReferenceType() && !is_sampler(type)) {
      error(variable.getLocation(), "program scope variable must reside in constant address space");
    }
  }

  static bool is_sampler(clang::QualType type) {
    const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
    return record && find_annotation(*record, "sampler");
  }

  void add_function_constant(const clang::VarDecl& variable, const clang::AnnotateAttr& annotation) {
    FunctionConstantInfo info;
    info.name = variable.getNameAsString();
    info.type = describe_type(context_, variable.getType());
    const auto index = index_argument(context_, variable, annotation, 65535);
    if (!index) return;
    info.index = *index;
    if (info.type.scalar == ElementType::none || info.type.columns != 1 || info.type.array_length != 0) {
      error(variable.getLocation(), "type '%0' is not valid for attribute 'function_constant'") << info.type.name;
      return;
    }
    for (const auto& [other, declaration] : reflection_.function_constants) {
      if (other.index == info.index && declaration->getCanonicalDecl() != variable.getCanonicalDecl()) {
        error(variable.getLocation(), "function constant index %0 is already used by '%1'") << info.index << other.name;
        return;
      }
      if (declaration->getCanonicalDecl() == variable.getCanonicalDecl()) return;
    }
    reflection_.function_constants.emplace_back(std::move(info), &variable);
  }

  // Instantiations stand in the order of their templates until here.
  void sort_by_source_order() {
    std::vector<std::size_t> order(reflection_.kernels.size());
    std::vector<clang::SourceLocation> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
      places.push_back(sources_.getExpansionLoc(reflection_.kernels[i].place));
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return sources_.isBeforeInTranslationUnit(places[a], places[b]);
    });
    std::vector<ReflectedKernel> sorted;
    std::map<std::pair<std::size_t, std::size_t>, const clang::VarDecl*> gates;
    for (const std::size_t old : order) {
      for (std::size_t a = 0; a < reflection_.kernels[old].info.arguments.size(); ++a) {
        const auto gate = reflection_.gates.find({old, a});
        if (gate != reflection_.gates.end()) gates[{sorted.size(), a}] = gate->second;
      }
      sorted.push_back(std::move(reflection_.kernels[old]));
    }
    reflection_.kernels = std::move(sorted);
    reflection_.gates = std::move(gates);
  }

  void check_names() {
    std::set<std::string> names;
    for (const ReflectedKernel& kernel : reflection_.kernels) {
      if (!names.insert(kernel.info.name).second) {
        error(kernel.function ? kernel.function->getLocation() : kernel.place,
              "duplicate kernel name '%0': kernels cannot be overloaded and host_name "
              "must be unique")
            << kernel.info.name;
      }
    }
  }

  Session& session_;
  clang::ASTContext& context_;
  clang::SourceManager& sources_;
  clang::DiagnosticsEngine& diagnostics_;
  Reflection reflection_;
};

}  // namespace

Reflection reflect(Session& session) { return Reflector(session).run(); }

}  // namespace metalloid::frontend
