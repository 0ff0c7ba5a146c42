#include "frontend/reflection/kernel_arguments.h"

#include <set>

#include <clang/AST/DeclCXX.h>
#include <clang/Basic/Diagnostic.h>
#include <fmt/format.h>

#include "frontend/reflection/annotations.h"
#include "frontend/reflection/tensor_type.h"
#include "frontend/reflection/types.h"

namespace metalloid::frontend {
namespace {

constexpr unsigned max_index = max_buffer_arguments - 1;

// Positions and sizes may be vectors; indices and counts are scalars (MSL spec table 5.8).
bool allows_vector(Builtin builtin) {
  switch (builtin) {
    case Builtin::thread_position_in_grid:
    case Builtin::thread_position_in_threadgroup:
    case Builtin::threadgroup_position_in_grid:
    case Builtin::threads_per_grid:
    case Builtin::threads_per_threadgroup:
    case Builtin::dispatch_threads_per_threadgroup:
    case Builtin::threadgroups_per_grid:
    case Builtin::grid_origin:
    case Builtin::grid_size: return true;
    default: return false;
  }
}

// The class of an argument or of what an array of them holds; null if it is none.
const clang::CXXRecordDecl* argument_class(clang::QualType type) {
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (const auto* array = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
      array && array->getIdentifier() && array->getName() == "array" && array->getTemplateArgs().size() == 2) {
    return argument_class(array->getTemplateArgs()[0].getAsType());
  }
  return record;
}

// "texture" or "sampler" if objects of the type are such arguments (metalloid/texture.h marks them), else null.
const char* resource_class(clang::QualType type) {
  const clang::CXXRecordDecl* record = argument_class(type);
  for (const char* name : {"texture", "sampler"}) {
    if (record && find_annotation(*record, name)) return name;
  }
  return nullptr;
}

// The member of a struct, however deep, that is a tensor bound by the host; null if there is none.
const clang::FieldDecl* find_tensor(clang::ASTContext& context, clang::QualType type) {
  while (const auto* array = context.getAsArrayType(type)) type = array->getElementType();
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return nullptr;
  for (const clang::FieldDecl* field : record->fields()) {
    clang::QualType member = field->getType();
    while (const auto* array = context.getAsArrayType(member)) member = array->getElementType();
    const auto tensor = tensor_type(member);
    if (tensor && tensor->is_handle) return field;
    if (const clang::FieldDecl* inner = find_tensor(context, member)) return inner;
  }
  return nullptr;
}

class ArgumentReader {
 public:
  explicit ArgumentReader(clang::ASTContext& context) : context_(context), diagnostics_(context.getDiagnostics()) {}

  std::vector<KernelArgument> read(const clang::FunctionDecl& kernel) {
    std::vector<KernelArgument> arguments;
    std::vector<bool> is_explicit;
    for (const clang::ParmVarDecl* parameter : kernel.parameters()) {
      bool has_index = false;
      arguments.push_back(read_parameter(*parameter, has_index));
      is_explicit.push_back(has_index);
    }
    assign_indices(kernel, arguments, is_explicit);
    check_shapes(kernel, arguments);
    return arguments;
  }

  KernelArgument read_program_argument(const clang::VarDecl& variable) {
    bool has_index = false;
    KernelArgument argument = read_parameter(variable, has_index);
    if (argument.info.kind != ArgumentKind::builtin && !has_index) {
      error(variable.getLocation(), "program scope variable %0 needs an index in its attribute")
          << variable.getDeclName();
    }
    return argument;
  }

 private:
  template <unsigned N>
  clang::DiagnosticBuilder error(clang::SourceLocation location, const char (&text)[N]) {
    return diagnostics_.Report(location, diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, text));
  }

  KernelArgument read_parameter(const clang::VarDecl& parameter, bool& has_index) {
    KernelArgument argument;
    ArgumentInfo& info = argument.info;
    info.name = parameter.getNameAsString();
    const clang::QualType type = parameter.getType().getCanonicalType();
    if (const auto* gate = find_annotation(parameter, "gate")) read_gate(parameter, *gate, argument);
    if (type->isPointerType() || type->isReferenceType()) {
      read_pointer(parameter, type->getPointeeType(), type->isReferenceType(), info, has_index);
    } else if (const char* resource = resource_class(type)) {
      read_resource(parameter, resource, info, has_index);
    } else if (const auto tensor = tensor_type(type)) {
      read_tensor(parameter, *tensor, info, has_index);
    } else {
      read_value(parameter, type, info);
    }
    return argument;
  }

  void read_pointer(const clang::VarDecl& parameter, clang::QualType pointee, bool is_reference, ArgumentInfo& info,
                    bool& has_index) {
    info.is_reference = is_reference;
    info.type = describe_type(context_, pointee);
    info.access = pointee.isConstQualified() ? Access::read : Access::read_write;
    if (const auto* array = context_.getAsArrayType(pointee)) {
      if (array->getElementType().isConstQualified()) info.access = Access::read;
    }
    const char* attribute = "buffer";
    switch (pointee.getAddressSpace()) {
      case clang::LangAS::opencl_global: info.address_space = AddressSpace::device; break;
      case clang::LangAS::opencl_constant:
        info.address_space = AddressSpace::constant;
        info.access = Access::read;
        break;
      case clang::LangAS::opencl_local:
        info.address_space = AddressSpace::threadgroup;
        info.kind = ArgumentKind::threadgroup_memory;
        attribute = "threadgroup";
        break;
      default:
        error(parameter.getLocation(),
              "%0 type must have explicit address space qualifier: argument %1 of a kernel lies in device, constant or "
              "threadgroup")
            << (is_reference ? "reference" : "pointer") << parameter.getDeclName();
        return;
    }
    check_attributes(parameter, attribute, info);
    read_index(parameter, attribute, info, has_index);
  }

  // Besides its index, an argument in memory has attributes of no effect only.
  void check_attributes(const clang::VarDecl& parameter, llvm::StringRef expected, const ArgumentInfo& info) {
    for (const llvm::StringRef name : annotation_names(parameter)) {
      if (name == expected || name == "gate" || name == "id" || name == "user_annotation") continue;
      if (name == "buffer" || name == "threadgroup" || name == "texture" || name == "sampler" ||
          builtin_named(name) != Builtin::none) {
        const char* space = info.address_space == AddressSpace::device     ? "device"
                            : info.address_space == AddressSpace::constant ? "constant"
                                                                           : "threadgroup";
        error(parameter.getLocation(), "attribute '%0' is not valid for argument %1 in the %2 address space")
            << name << parameter.getDeclName() << space;
      } else {
        diagnostics_.Report(parameter.getLocation(), diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Warning,
                                                                                  "unknown attribute '%0' ignored%1"))
            << name << suggestion(name);
      }
    }
  }

  // "; did you mean 'buffer'?", or nothing.
  static std::string suggestion(llvm::StringRef name) {
    std::string best;
    unsigned best_distance = static_cast<unsigned>(name.size()) / 3 + 1;
    const auto consider = [&](llvm::StringRef known) {
      const unsigned distance = name.edit_distance(known, /*AllowReplacements=*/true, best_distance);
      if (distance < best_distance) {
        best_distance = distance;
        best = known.str();
      }
    };
    for (const char* known : {"buffer", "threadgroup", "function_constant"}) consider(known);
    for (int i = 1; i <= static_cast<int>(Builtin::thread_index_in_grid); ++i) {
      const std::string_view known = name_of(static_cast<Builtin>(i));
      consider(llvm::StringRef(known.data(), known.size()));
    }
    return best.empty() ? best : fmt::format("; did you mean '{}'?", best);
  }

  void read_index(const clang::VarDecl& parameter, llvm::StringRef attribute, ArgumentInfo& info, bool& has_index) {
    const auto* annotation = find_annotation(parameter, attribute);
    if (!annotation) return;
    has_index = true;  // and no other is chosen if this one is wrong
    if (const auto index = index_argument(context_, parameter, *annotation, max_index)) info.index = *index;
  }

  // Kernels with such arguments are described, and refused when somebody wants to run them.
  void read_resource(const clang::VarDecl& parameter, llvm::StringRef resource, ArgumentInfo& info, bool& has_index) {
    info.kind = resource == "sampler" ? ArgumentKind::sampler : ArgumentKind::texture;
    info.type = describe_type(context_, parameter.getType());
    info.access = Access::read;
    read_index(parameter, resource, info, has_index);
    diagnostics_.Report(parameter.getLocation(),
                        diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Warning,
                                                     "%0s are not supported by Metalloid: the kernel cannot run"))
        << resource;
  }

  void read_tensor(const clang::VarDecl& parameter, const TensorType& tensor, ArgumentInfo& info, bool& has_index) {
    info.kind = ArgumentKind::tensor;
    info.type = describe_type(context_, tensor.element);
    info.extents = tensor.extents;
    info.access = tensor.element.isConstQualified() ? Access::read : Access::read_write;
    const clang::LangAS space = tensor.element.getAddressSpace();
    if (!tensor.is_handle) {
      error(parameter.getLocation(), "tensor argument %0 of a kernel must be a tensor_handle")
          << parameter.getDeclName();
    } else if (space != clang::LangAS::opencl_global && space != clang::LangAS::opencl_constant) {
      error(parameter.getLocation(), "the elements of tensor argument %0 must be in address space device or constant")
          << parameter.getDeclName();
    }
    if (space == clang::LangAS::opencl_constant) {
      info.address_space = AddressSpace::constant;
      info.access = Access::read;
    }
    read_index(parameter, "buffer", info, has_index);
  }

  void read_value(const clang::VarDecl& parameter, clang::QualType type, ArgumentInfo& info) {
    info.type = describe_type(context_, type);
    info.address_space = AddressSpace::thread;
    info.access = Access::read;
    info.kind = ArgumentKind::builtin;
    for (const llvm::StringRef name : annotation_names(parameter)) {
      info.builtin = builtin_named(name);
      if (info.builtin != Builtin::none) break;
    }
    if (info.builtin == Builtin::none) {
      report_input(parameter, info.type.name);
      return;
    }
    const bool is_word = info.type.scalar == ElementType::uint16 || info.type.scalar == ElementType::uint32;
    const bool shape_fits = info.type.columns == 1 && info.type.array_length == 0 && !info.type.is_atomic &&
                            (info.type.rows == 1 || (allows_vector(info.builtin) && info.type.rows <= 3));
    if (!is_word || !shape_fits) {
      error(parameter.getLocation(), "type '%0' is not valid for attribute '%1'")
          << info.type.name << llvm::StringRef(name_of(info.builtin));
    }
  }

  void report_input(const clang::VarDecl& parameter, llvm::StringRef type) {
    const auto names = annotation_names(parameter);
    if (names.empty()) {
      error(parameter.getLocation(),
            "invalid type '%0' for input declaration in a kernel function: argument %1 needs an attribute, or an "
            "address space and a pointer or reference")
          << type << parameter.getDeclName();
    } else if (names.front() == "buffer" || names.front() == "threadgroup") {
      error(parameter.getLocation(), "type '%0' is not valid for attribute '%1'") << type << names.front();
    } else if (names.front() == "vertex_id" || names.front() == "instance_id" || names.front() == "position" ||
               names.front() == "stage_in") {
      error(parameter.getLocation(), "invalid '%0' attribute for input declaration in a kernel function")
          << names.front();
    } else {
      error(parameter.getLocation(),
            "invalid type '%0' for input declaration in a kernel function: unknown attribute "
            "'%1'%2")
          << type << names.front() << suggestion(names.front());
    }
  }

  // Positions and sizes are all scalars, or all vectors of one length (MSL spec §5.2.3.6).
  void check_shapes(const clang::FunctionDecl& kernel, const std::vector<KernelArgument>& arguments) {
    unsigned rows = 0;
    for (const KernelArgument& argument : arguments) {
      const ArgumentInfo& info = argument.info;
      if (info.kind != ArgumentKind::builtin || !allows_vector(info.builtin)) continue;
      if (rows != 0 && rows != info.type.rows) {
        error(kernel.getLocation(),
              "expecting input declarations with either all scalar types or all vector types with the same number of "
              "elements");
        return;
      }
      rows = info.type.rows;
    }
  }

  // An argument without an index takes the first free one of its class, in order (MSL spec §5.2).
  void assign_indices(const clang::FunctionDecl& kernel, std::vector<KernelArgument>& arguments,
                      const std::vector<bool>& is_explicit) {
    std::set<unsigned> used[4];
    constexpr const char* class_names[] = {"buffer", "threadgroup", "texture", "sampler"};
    const auto class_of = [](const ArgumentInfo& info) {
      switch (info.kind) {
        case ArgumentKind::threadgroup_memory: return 1;
        case ArgumentKind::texture: return 2;
        case ArgumentKind::sampler: return 3;
        default: return 0;
      }
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentInfo& info = arguments[i].info;
      if (info.kind == ArgumentKind::builtin || !is_explicit[i]) continue;
      // Two arguments may share an index if function constants keep them apart.
      if (!used[class_of(info)].insert(info.index).second && !arguments[i].is_gated) {
        error(kernel.getParamDecl(i)->getLocation(), "cannot reserve '%0' resource location at index %1")
            << class_names[class_of(info)] << info.index;
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      ArgumentInfo& info = arguments[i].info;
      if (info.kind == ArgumentKind::builtin || is_explicit[i]) continue;
      auto& taken = used[class_of(info)];
      unsigned index = 0;
      while (taken.count(index)) ++index;
      taken.insert(index);
      info.index = index;
      if (index > max_index) {
        error(kernel.getParamDecl(i)->getLocation(), "more than %0 buffer arguments") << max_buffer_arguments;
      }
    }
  }

  // `[[function_constant(c)]]`: c decides whether the argument exists. A constant that the pipeline gives its value
  // stays the argument's gate; any other decides now.
  void read_gate(const clang::VarDecl& parameter, const clang::AnnotateAttr& annotation, KernelArgument& argument) {
    clang::Expr::EvalResult result;
    const clang::Expr* gate = annotation.args_size() > 0 ? annotation.args_begin()[0] : nullptr;
    if (!gate || gate->isValueDependent() || !gate->EvaluateAsRValue(result, context_)) {
      error(parameter.getLocation(), "'function_constant' attribute of argument %0 names no function constant")
          << parameter.getDeclName();
      return;
    }
    if (annotation.args_size() != 1) {
      error(parameter.getLocation(), "'function_constant' attribute takes one argument");
      return;
    }
    if (result.Val.isInt()) {
      argument.info.is_active = result.Val.getInt() != 0;
      argument.is_gated = true;
      return;
    }
    const auto* base = result.Val.isLValue() ? result.Val.getLValueBase().dyn_cast<const clang::ValueDecl*>() : nullptr;
    const auto* constant = llvm::dyn_cast_or_null<clang::VarDecl>(base);
    if (!constant || !constant->getType()->isIntegralOrEnumerationType()) {
      error(parameter.getLocation(), "'function_constant' attribute of argument %0 must name a boolean constant")
          << parameter.getDeclName();
      return;
    }
    argument.is_gated = true;
    // The initialiser may stand at another declaration: `template <int n> constant bool Options<n>::wide = n > 3;`.
    const clang::VarDecl* definition = nullptr;
    const clang::Expr* initialiser = constant->getAnyInitializer(definition);
    const clang::APValue* value =
        initialiser && !initialiser->isValueDependent() ? definition->evaluateValue() : nullptr;
    if (value && value->isInt()) {
      argument.info.is_active = value->getInt() != 0;
    } else {
      argument.gate = constant;
    }
  }

  clang::ASTContext& context_;
  clang::DiagnosticsEngine& diagnostics_;
};

}  // namespace

Builtin builtin_named(llvm::StringRef attribute) {
  for (int i = 1; i <= static_cast<int>(Builtin::thread_index_in_grid); ++i) {
    const auto builtin = static_cast<Builtin>(i);
    const std::string_view spelling = name_of(builtin);
    if (attribute == llvm::StringRef(spelling.data(), spelling.size())) return builtin;
  }
  return Builtin::none;
}

std::string unsupported_argument(clang::ASTContext& context, const clang::FunctionDecl& kernel) {
  for (const clang::ParmVarDecl* parameter : kernel.parameters()) {
    std::string reason;
    const clang::QualType type = parameter->getType().getCanonicalType();
    const clang::CXXRecordDecl* record = argument_class(type);
    const clang::AnnotateAttr* annotation = record ? find_annotation(*record, "unsupported") : nullptr;
    if (annotation) {
      reason = string_argument(*annotation).value_or("such arguments are") + " not supported by Metalloid";
    } else if (const clang::FieldDecl* tensor = type->isPointerType() || type->isReferenceType()
                                                    ? find_tensor(context, type->getPointeeType())
                                                    : nullptr) {
      reason = fmt::format(
          "tensors in argument buffers are not supported by Metalloid: take '{}' as an argument of the kernel",
          tensor->getNameAsString());
    } else {
      continue;
    }
    const clang::SourceManager& sources = context.getSourceManager();
    const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(parameter->getLocation()));
    return fmt::format("{}:{}: argument '{}': {}", place.isValid() ? place.getFilename() : "",
                       place.isValid() ? place.getLine() : 0, parameter->getNameAsString(), reason);
  }
  return {};
}

std::vector<KernelArgument> reflect_arguments(clang::ASTContext& context, const clang::FunctionDecl& kernel) {
  return ArgumentReader(context).read(kernel);
}

KernelArgument reflect_program_argument(clang::ASTContext& context, const clang::VarDecl& variable) {
  return ArgumentReader(context).read_program_argument(variable);
}

bool is_program_argument(const clang::VarDecl& variable) {
  if (!variable.isFileVarDecl()) return false;
  for (const llvm::StringRef name : annotation_names(variable)) {
    if (builtin_named(name) != Builtin::none || name == "buffer" || name == "threadgroup" || name == "texture" ||
        name == "sampler") {
      return true;
    }
  }
  return false;
}

}  // namespace metalloid::frontend
